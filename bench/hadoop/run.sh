#!/bin/sh
# make bench-hadoop, make bench-ozone: the RawErasureCoderBenchmark of Hadoop or Ozone with its coder in Java and with that of
# gfsmith, alternately; the medians of ROUNDS processes each, in MB/s of data: run.sh hadoop|ozone JAR ROUNDS
set -eu
engine=$1 jar=$2 rounds=$3
judge=tests/system/bindings/java/judge
case $engine in # java, gfsmith: the numbers of the coders
  hadoop) pom=$judge/pom.xml release=3.4.1 package=org.apache.hadoop.io.erasurecode java=2 gfsmith=3 ;;
  ozone) pom=$judge/ozone/pom.xml release=1.4.0 package=org.apache.ozone.erasurecode java=1 gfsmith=0 ;;
esac
work=build/bench/$engine
mkdir -p "$work/classes"
[ -f "$work/classpath" ] || mvn -q -B -ntp -f "$pom" -Drelease="$release" \
  org.apache.maven.plugins:maven-dependency-plugin:3.6.1:build-classpath -Dmdep.outputFile="$PWD/$work/classpath"
path=$work/classes:$jar:$(cat "$work/classpath")
javac -proc:none -cp "$path" -d "$work/classes" bench/hadoop/"$engine"/*.java

speed() { # OPERATION CODER MEGABYTES KIBIBYTES
  java -cp "$path" "$package.rawcoder.RawErasureCoderBenchmark" "$1" "$2" 1 "$3" "$4" 2>&1 |
    sed -n 's/^Total throughput: \([0-9.]*\) MB.*/\1/p'
}
median() { sort -n "$1" | sed -n "$(((rounds + 1) / 2))p"; }

printf '| | chunk | original, MB/s | gfsmith, MB/s | ratio |\n|---|---|---|---|---|\n'
for operation in encode decode; do
  for kibibytes in 4 64 1024; do
    rm -f "$work/java" "$work/gfsmith"
    round=0
    while [ $round -lt "$rounds" ]; do
      speed $operation "$java" 504 $kibibytes >>"$work/java"
      speed $operation "$gfsmith" 4032 $kibibytes >>"$work/gfsmith"
      round=$((round + 1))
    done
    original=$(median "$work/java") ours=$(median "$work/gfsmith")
    ratio=$(echo "$ours $original" | awk '{ printf "%.1f", $1 / $2 }')
    printf '| %s | %s KiB | %.0f | %.0f | %s |\n' $operation $kibibytes "$original" "$ours" "$ratio"
  done
done

#!/bin/sh
# make bench-hadoop: Hadoop's RawErasureCoderBenchmark (6+3, one thread, direct buffers) with Hadoop's coder in Java and
# with that of gfsmith, alternately; the medians of ROUNDS processes each, in MB/s of data: run.sh JAR ROUNDS
set -eu
jar=$1 rounds=$2
work=build/bench/hadoop
mkdir -p "$work/classes"
[ -f "$work/classpath" ] || mvn -q -B -ntp -f tests/system/bindings/java/judge/pom.xml -Dhadoop=3.4.1 \
  org.apache.maven.plugins:maven-dependency-plugin:3.6.1:build-classpath -Dmdep.outputFile="$PWD/$work/classpath"
path=$work/classes:$jar:$(cat "$work/classpath")
javac -proc:none -cp "$path" -d "$work/classes" bench/hadoop/NativeRSRawErasureCoderFactory.java

JAVA=2 GFSMITH=3 # the numbers of the coders
speed() { # OPERATION CODER MEGABYTES KIBIBYTES
  java -cp "$path" org.apache.hadoop.io.erasurecode.rawcoder.RawErasureCoderBenchmark "$1" "$2" 1 "$3" "$4" 2>&1 |
    sed -n 's/^Total throughput: \([0-9.]*\) MB.*/\1/p'
}
median() { sort -n "$1" | sed -n "$(((rounds + 1) / 2))p"; }

printf '| | chunk | Hadoop, MB/s | gfsmith, MB/s | ratio |\n|---|---|---|---|---|\n'
for operation in encode decode; do
  for kibibytes in 4 64 1024; do
    rm -f "$work/java" "$work/gfsmith"
    round=0
    while [ $round -lt "$rounds" ]; do
      speed $operation $JAVA 504 $kibibytes >>"$work/java"
      speed $operation $GFSMITH 4032 $kibibytes >>"$work/gfsmith"
      round=$((round + 1))
    done
    java=$(median "$work/java") gfsmith=$(median "$work/gfsmith")
    ratio=$(echo "$gfsmith $java" | awk '{ printf "%.1f", $1 / $2 }')
    printf '| %s | %s KiB | %.0f | %.0f | %s |\n' $operation $kibibytes "$java" "$gfsmith" "$ratio"
  done
done

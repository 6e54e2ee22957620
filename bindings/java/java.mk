# The archive for Java, Hadoop and Ozone: docs/migrate/hdfs.md, docs/migrate/ozone.md. Included by the Makefile.
#
#   build/java/gfsmith-VERSION.jar   classes for Java 17, and the native library for each machine of JAVA_MACHINES
#
# The same sources and tools always give the same archive: the native libraries contain no paths, and all entries have
# one date.
JAVA_MACHINES := x86_64 aarch64
JAVA_HOME ?= $(patsubst %/bin/javac,%,$(realpath $(shell command -v javac)))
JAVA_BUILD := build/java
JAVA_JAR := $(JAVA_BUILD)/gfsmith-$(VERSION).jar
JAVA_TREE := $(JAVA_BUILD)/tree
JAVA_SOURCES := $(sort $(shell find bindings/java/src -name '*.java'))
JAVA_SERVICES := $(wildcard bindings/java/META-INF/services/*)

# The classes of the oldest Hadoop and Ozone that the coders support; Maven fetches them.
JAVA_FETCHED := build/maven
HADOOP_COMMON := $(JAVA_FETCHED)/hadoop-common.jar
HADOOP_ANNOTATIONS := $(JAVA_FETCHED)/hadoop-annotations.jar
OZONE_CODERS := $(JAVA_FETCHED)/hdds-erasurecode.jar
OZONE_COMMON := $(JAVA_FETCHED)/hdds-common.jar
$(HADOOP_COMMON): ARTIFACT := org.apache.hadoop:hadoop-common:3.3.6
$(HADOOP_COMMON): SHA256 := 10b8edb304bccc10a939d29edde128d0f6d95129427ec69f5cc7003ba8c6b737
$(HADOOP_ANNOTATIONS): ARTIFACT := org.apache.hadoop:hadoop-annotations:3.3.6
$(HADOOP_ANNOTATIONS): SHA256 := 02444e5dec3ef67251b61816001d3a0b1374b0334ed847b1d77f0750234c12d9
$(OZONE_CODERS): ARTIFACT := org.apache.ozone:hdds-erasurecode:1.4.0
$(OZONE_CODERS): SHA256 := f0eabd4e76dc985900a5c566664a00f9362ac32e13c8b2c1879b281e93c80e57
$(OZONE_COMMON): ARTIFACT := org.apache.ozone:hdds-common:1.4.0
$(OZONE_COMMON): SHA256 := 9b381e28cc418926154502395baa5418ef545da82d9ded1053766d7a074630c9
JAVA_LIBRARIES := $(HADOOP_COMMON) $(HADOOP_ANNOTATIONS) $(OZONE_CODERS) $(OZONE_COMMON)

.PHONY: java java-native
ifeq ($(wildcard $(GFSMITH_GENERATED)/sources.mk),)
java: gen
	@$(MAKE) --no-print-directory java
else
java: setup-java $(JAVA_JAR)
endif

# The native library for the target of the compiler: make CROSS=aarch64-linux-gnu java-native
JAVA_NATIVE := $(JAVA_BUILD)/$(ARCH)/libgfsmith-java.so
java-native: $(JAVA_NATIVE)

$(JAVA_BUILD)/$(ARCH)/gfsmith_jni.o: bindings/java/native/gfsmith_jni.c runtime/core/include/gfsmith.h runtime/core/include/gfsmith_checksum.h
	@mkdir -p $(@D)
	@$(CC) -O2 $(REQUIRED_CFLAGS) $(HARDEN_RUNTIME) -Iruntime/core/include -I$(JAVA_HOME)/include \
	  -I$(JAVA_HOME)/include/linux -c $< -o $@

$(JAVA_NATIVE): $(JAVA_BUILD)/$(ARCH)/gfsmith_jni.o $(BUILD)/libgfsmith.a
	@$(CC) $(LDFLAGS) -shared -Wl,-soname,$(@F) -Wl,--build-id=none,--exclude-libs,ALL $(HARDEN_LINK) -o $@.unstripped $^
	@$(call check_linked,$@.unstripped)
	@$(if $(CROSS),$(CROSS)-)strip -o $@ $@.unstripped
	@echo "built $@"

# Each machine needs a make of its own, because variables name one compiler.
JAVA_LIBRARY := org/gfsmith/native/linux-%/libgfsmith-java.so
$(JAVA_TREE)/$(JAVA_LIBRARY): ALWAYS
	@$(MAKE) --no-print-directory $(if $(filter $*,$(ARCH)),,CROSS=$*-linux-gnu) java-native
	@mkdir -p $(@D)
	@cmp -s $(JAVA_BUILD)/$*/$(@F) $@ || cp $(JAVA_BUILD)/$*/$(@F) $@

.PHONY: hadoop-common
hadoop-common: $(HADOOP_COMMON)
# Maven runs for seconds: optimised code and several threads for garbage take half of its CPU time.
$(JAVA_LIBRARIES): bindings/java/java.mk
	@mkdir -p $(@D)/fetched
	@MAVEN_OPTS='-XX:TieredStopAtLevel=1 -XX:+UseSerialGC $(MAVEN_OPTS)' mvn -q -B -ntp org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy '-DoutputDirectory=$(CURDIR)/$(@D)/fetched' \
	  -Dmdep.stripVersion=true -Dartifact=$(ARTIFACT)
	@echo '$(SHA256)  $(@D)/fetched/$(@F)' | sha256sum --check --quiet
	@mv $(@D)/fetched/$(@F) $@
	@touch $@

empty :=
$(JAVA_BUILD)/classes: $(JAVA_SOURCES) $(JAVA_LIBRARIES)
	@rm -rf $(JAVA_TREE)/org/gfsmith/*.class $(addprefix $(JAVA_TREE)/org/,gfsmith/hadoop gfsmith/ozone apache)
	@javac -proc:none -Xlint:all -Werror --release 17 -cp $(subst $(empty) $(empty),:,$(JAVA_LIBRARIES)) -d $(JAVA_TREE) $(JAVA_SOURCES)
	@touch $@

$(JAVA_JAR): $(JAVA_BUILD)/classes $(JAVA_MACHINES:%=$(JAVA_TREE)/$(JAVA_LIBRARY)) $(JAVA_SERVICES) LICENSE
	@mkdir -p $(JAVA_TREE)/META-INF
	@cp -r bindings/java/META-INF/services LICENSE $(JAVA_TREE)/META-INF
	@(cd $(JAVA_TREE) && find META-INF org -type f) | LC_ALL=C sort | sed 's|.*|-C $(JAVA_TREE) &|' >$@.files
	@jar --create --file $@.new --date 1980-01-01T00:00:02Z @$@.files
	@mv $@.new $@
	@echo "built $@"

# Hadoop's and Ozone's own benchmarks of raw coders: docs/migrate/hdfs.md, docs/migrate/ozone.md
ROUNDS := 3
.PHONY: bench-hadoop bench-ozone
bench-hadoop: java
	@bench/hadoop/run.sh hadoop $(JAVA_JAR) $(ROUNDS)

bench-ozone: java
	@bench/hadoop/run.sh ozone $(JAVA_JAR) $(ROUNDS)

# The front door. `make help` lists what there is; everything compiled stays below build/.
MAKEFLAGS += --no-print-directory
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c

JOBS ?= $(shell nproc)
export CTEST_PARALLEL_LEVEL ?= $(JOBS)
export NINJA_STATUS ?= [%f/%t %es] 

.PHONY: help
help: ## list these targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

# --- what users run ---------------------------------------------------------------------------------------------

.PHONY: setup
setup: ## install what the build needs (Debian packages, Arrow C++, librdkafka); quick when all is there
	@tools/setup

.PHONY: build
build: setup build/release/build.ninja ## build build/release/caudal, the optimised program
	@ninja -C build/release caudal

.PHONY: demo
demo: build ## generate events, run the NeoBank pipeline on them and prove the result
	@tools/demo

.PHONY: test
test: ## set up, build with the release preset, run every test
	@tools/setup test
	@cmake --preset release -DCAUDAL_TESTS=ON > build/configure.log || { cat build/configure.log; exit 1; }
	@echo "test: building with the 'release' preset in build/release (sanitizers: make sanitize)"
	@ninja -C build/release
	@ctest --preset release | tee build/test.log
	@grep -hE '^((written|bounded|restore|rescale|tiny): |  skipped )' build/release/Testing/Temporary/LastTest.log
	@grep 'tests passed' build/test.log

# --- what developers run ----------------------------------------------------------------------------------------

.PHONY: check
check: ## run the gates: folders, sizes, words, headers alone, format, warm build
	@tools/setup test check
	@tools/check

.PHONY: sanitize
sanitize: ## run every test under ASan + UBSan, then under TSan
	@tools/setup test
	@for preset in debug tsan; do \
	  echo "sanitize: preset '$$preset'"; \
	  cmake --preset $$preset > build/configure.log || { cat build/configure.log; exit 1; }; \
	  ninja -C build/$$preset; \
	  ctest --preset $$preset; \
	done

FUZZ_SECONDS ?= 60
.PHONY: fuzz
fuzz: ## fuzz every parser, FUZZ_SECONDS=60 each; tools/fuzz says more (keep, coverage)
	@tools/setup fuzz
	@tools/fuzz $(FUZZ_SECONDS)

SEEDS ?= 200000
.PHONY: simulate
simulate: ## live SEEDS=200000 seeded lives of a query with crashes, then show that planted faults are caught
	@tools/setup test
	@cmake --preset release -DCAUDAL_TESTS=ON > build/configure.log || { cat build/configure.log; exit 1; }
	@ninja -C build/release caudal_simulate caudal_simulate_planted
	@build/release/src/run/simulation/caudal_simulate --seeds $(SEEDS) --processes $(JOBS)
	@build/release/src/run/simulation/caudal_simulate_planted --planted all

.PHONY: kill
kill: build ## kill the engine of a running pipeline 60 times and more, then take its disks away; the result must stay exact
	@test/cli/kill --caudal build/release/caudal --full
	@test/cli/outage --caudal build/release/caudal --full

.PHONY: bench
bench: build ## time the stages one by one, then the whole job; BENCH=data times one stage
	@ninja -C build/release benches
	@for program in build/release/bench/$(or $(BENCH),*)_bench; do echo "$$(basename $$program)"; $$program; done
	@$(if $(BENCH),true,$(MAKE) bench-job)

.PHONY: bench-gate
bench-gate: build ## count instructions an event of each stage (callgrind); fails at 2 % more than bench/instructions.json
	@tools/setup bench
	@ninja -C build/release benches
	@bench/gate

.PHONY: bench-scale
bench-scale: build ## what an event costs as accounts, ids, windows, columns, files or commits grow; SCALE='ids --times 10'
	@bench/scale $(SCALE)

.PHONY: bench-job
bench-job: build ## run NeoBank over 5 M events, prove its outputs, print speed, CPU, steps, memory; JOB='--events 1000000'
	@bench/run $(or $(JOB),neobank)

.PHONY: bench-latency
bench-latency: build ## how old an event is when it can be read, at half the maximum rate, through a real Kafka and Redis (needs Java)
	@test/peer/kafka/latency --caudal build/release/caudal

.PHONY: peer-flink
peer-flink: ## run the tests marked `oracle` on a real Flink and compare with the record (needs Java)
	@test/peer/flink/record --check

.PHONY: peer-iceberg
peer-iceberg: ## read and write Iceberg tables in turn with PyIceberg, which is put below build/; SAMPLES=DIR adds others' tables, REST=URI a catalog, SPARK_JAR=JAR Spark
	@tools/setup test
	@cmake --preset release -DCAUDAL_TESTS=ON > build/configure.log || { cat build/configure.log; exit 1; }
	@ninja -C build/release caudal iceberg_peer
	@[ -d build/peer/iceberg/pyiceberg ] || python3 -m pip install --quiet --target build/peer/iceberg -r test/peer/iceberg/requirements.txt
	@PYTHONPATH=build/peer/iceberg python3 test/peer/iceberg/tables build/release/test/peer/iceberg_peer $(if $(SAMPLES),--samples $(SAMPLES))
	@PYTHONPATH=build/peer/iceberg python3 test/peer/iceberg/sql build/release/caudal $(if $(SAMPLES),--samples $(SAMPLES))
	@PYTHONPATH=build/peer/iceberg python3 test/peer/iceberg/kill build/release/caudal
	@$(if $(REST),PYTHONPATH=build/peer/iceberg python3 test/peer/iceberg/rest build/release/caudal $(REST))
	@$(if $(REST),PYTHONPATH=build/peer/iceberg python3 test/peer/iceberg/kill build/release/caudal --rest $(REST))
	@$(if $(SPARK_JAR),python3 test/peer/iceberg/changes build/release/caudal $(SPARK_JAR))

.PHONY: peer-s3
peer-s3: build ## tables, sinks and checkpoints in a real object store, faulty and under kills; S3=URL, BUCKET=NAME, REST=URI, keys in AWS_…
	@PYTHONPATH=build/peer/iceberg test/peer/s3/store build/release/caudal s3://$(or $(BUCKET),warehouse)/caudal $(if $(S3),--endpoint $(S3)) $(if $(REST),--rest $(REST)) || [ $$? = 77 ]

.PHONY: peer-redis
peer-redis: build ## kill NeoBank and its Redis, 20 times each, and masters behind sentinels and in a cluster; the features must stay exact
	@test/peer/redis/restarts --caudal build/release/caudal
	@test/peer/redis/failover --caudal build/release/caudal sentinel
	@test/peer/redis/failover --caudal build/release/caudal cluster

.PHONY: peer-kafka
peer-kafka: ## read and write a real Kafka: start-up modes, lost data, failover, logins, outages, then NeoBank under kills (needs Java)
	@tools/setup test
	@cmake --preset release -DCAUDAL_TESTS=ON > build/configure.log || { cat build/configure.log; exit 1; }
	@ninja -C build/release caudal connect_kafka_test
	@test/peer/kafka/source build/release/caudal
	@test/peer/kafka/sink build/release/caudal
	@test/peer/kafka/dead_letters build/release/caudal
	@test/peer/kafka/failover build/release/caudal
	@test/peer/kafka/security build/release/caudal
	@test/peer/kafka/stalls build/release/caudal
	@test/peer/kafka/kill --caudal build/release/caudal
	@test/peer/kafka/docs build/release/caudal

# A fresh folder starts without the tests; `make test` adds them in place and they stay.
build/release/build.ninja: CMakePresets.json
	@mkdir -p build
	@cmake --preset release $(if $(wildcard build/release/build.ninja),,-DCAUDAL_TESTS=OFF) > build/configure.log || { cat build/configure.log; exit 1; }
	@touch $@

INSERT INTO t /*+ OPTIONS('sink.parallelism' = '1') */ TABLE u

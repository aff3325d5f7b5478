// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.kafka;

import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkContract;
import java.util.List;
import reactor.core.publisher.Mono;

/** The contract with a cluster in memory; with a real one in smqtt-it. */
class KafkaSinkContractTest extends SinkContract {

    private final FakeCluster cluster = new FakeCluster();

    @Override
    protected Sink open() {
        return new KafkaSink(
                context(
                        new KafkaSinkFactory(),
                        message -> Mono.empty(),
                        null,
                        "bootstrap-servers",
                        "127.0.0.1:9092",
                        "topic",
                        "rows",
                        "value",
                        "${n}"),
                cluster);
    }

    @Override
    protected List<Integer> received() {
        return cluster.values().stream().map(Integer::valueOf).toList();
    }

    @Override
    protected boolean hang() {
        cluster.hangs = true;
        return true;
    }

    @Override
    protected void answerAgain() {
        cluster.hangs = false;
        cluster.producers.forEach(producer -> {
            while (producer.errorNext(new org.apache.kafka.common.errors.TimeoutException("expired"))) {
                // each that has no answer
            }
        });
    }
}

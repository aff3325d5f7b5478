// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.kafka;

import org.apache.kafka.clients.producer.Producer;
import org.jspecify.annotations.Nullable;

/** Makes the clients of a sink. */
interface KafkaClients {

    /**
     * Makes a producer. Blocks while names are resolved; does not wait for a connection.
     *
     * @return a producer, to be closed by the caller
     * @throws RuntimeException if it cannot be made now
     */
    Producer<byte[], byte[]> producer();

    /**
     * Asks the cluster for a topic, without creating it. Blocks.
     *
     * @param topic the topic; null to ask for any answer
     * @throws RuntimeException if the cluster cannot be reached or does not have the topic
     */
    void probe(@Nullable String topic);
}

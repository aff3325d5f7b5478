// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One client of a plan.
 *
 * @param clientId its client identifier
 * @param number its number among all clients, which selects its host, source address and event loop
 * @param loopKey clients with the same key share an event loop
 * @param filters its topic filters
 * @param subscribeQos the requested QoS
 * @param flows records received messages, if it subscribes; shared by the members of a shared subscription
 * @param publisher its number as a publisher, -1 if it does not publish
 * @param stamp the publisher number in the messages to its first topic; plus one for each further topic
 * @param topics its topics, used in turns
 * @param slow whether it reads slowly; its received messages are not measured
 */
record ClientSpec(
        String clientId,
        int number,
        int loopKey,
        List<String> filters,
        int subscribeQos,
        @Nullable FlowTable flows,
        int publisher,
        int stamp,
        List<String> topics,
        boolean slow) {

    static ClientSpec idle(String clientId, int number) {
        return new ClientSpec(clientId, number, number, List.of(), 0, null, -1, -1, List.of(), false);
    }

    static ClientSpec publisher(String clientId, int number, int publisher, String topic) {
        return new ClientSpec(
                clientId, number, publisher, List.of(), 0, null, publisher, publisher, List.of(topic), false);
    }

    static ClientSpec slow(String clientId, int number, String filter, int qos) {
        return new ClientSpec(clientId, number, number, List.of(filter), qos, null, -1, -1, List.of(), true);
    }

    static ClientSpec subscriber(
            String clientId, int number, int loopKey, List<String> filters, int qos, FlowTable flows) {
        return new ClientSpec(clientId, number, loopKey, filters, qos, flows, -1, -1, List.of(), false);
    }
}

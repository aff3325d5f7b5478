// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import java.util.List;

/**
 * The participants of a run.
 *
 * @param name the name of the run in reports
 * @param clients all clients; numbered from 0, publishers numbered from 0 among themselves
 * @param tables record deliveries, one for each shared subscription
 * @param deliveriesPerMessage number of tables that expect each message
 * @param firstStamp offset of the publisher numbers in messages
 * @param publishedBefore messages of an earlier run by publisher, if this run only receives
 * @param groups publishers with their own pace, without gaps; empty if the settings of the run apply to all
 */
record Plan(
        String name,
        List<ClientSpec> clients,
        List<FlowTable> tables,
        int deliveriesPerMessage,
        int firstStamp,
        long[] publishedBefore,
        List<PublisherGroup> groups) {

    Plan(String name, List<ClientSpec> clients, List<FlowTable> tables, int deliveriesPerMessage) {
        this(name, clients, tables, deliveriesPerMessage, 0, new long[0], List.of());
    }
}

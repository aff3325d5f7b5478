// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import java.util.List;

/**
 * Who takes part in a run.
 *
 * @param name what the run is called in reports
 * @param clients all clients; numbered from 0, publishers numbered from 0 among themselves
 * @param tables where deliveries are noted, each shared subscription's once
 * @param deliveriesPerMessage how many tables are to hear of each message
 * @param firstStamp added to what the messages of all publishers say who they are of
 * @param publishedBefore what an earlier run published, by publisher, where this one only receives
 * @param groups publishers with a pace of their own, without gaps; empty if the settings of the run hold for all
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

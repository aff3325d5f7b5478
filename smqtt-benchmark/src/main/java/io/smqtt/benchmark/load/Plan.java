// SPDX-License-Identifier: Apache-2.0
package io.smqtt.benchmark.load;

import java.util.List;

/**
 * Who takes part in a run.
 *
 * @param name what the run is called in reports
 * @param clients all clients; numbered from 0, publishers numbered from 0 among themselves
 * @param tables where deliveries are noted, each shared subscription's once
 * @param deliveriesPerMessage how many tables are to hear of each message
 * @param firstStamp what the messages of publisher 0 say who they are of
 * @param publishedBefore what an earlier run published, by publisher, where this one only receives
 */
record Plan(
        String name,
        List<ClientSpec> clients,
        List<FlowTable> tables,
        int deliveriesPerMessage,
        int firstStamp,
        long[] publishedBefore) {

    Plan(String name, List<ClientSpec> clients, List<FlowTable> tables, int deliveriesPerMessage) {
        this(name, clients, tables, deliveriesPerMessage, 0, new long[0]);
    }
}

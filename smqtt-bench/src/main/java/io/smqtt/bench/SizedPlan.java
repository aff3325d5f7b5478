// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import java.util.ArrayList;
import java.util.List;

/**
 * Devices that publish and subscribe to their own topics; consumers that share the messages of the devices and, if there are commands,
 * publish them, each to its own devices.
 *
 * @param prefix the prefix of topics and client identifiers
 * @param qos the QoS of messages and subscriptions
 * @param devices number of connected devices
 * @param consumers number of backend clients
 * @param reportsPerSecond messages of all devices together
 * @param commandsPerSecond messages to all devices together; 0 for none
 */
record SizedPlan(
        String prefix, int qos, int devices, int consumers, double reportsPerSecond, double commandsPerSecond) {

    Plan plan() {
        List<ClientSpec> clients = new ArrayList<>();
        List<FlowTable> tables = new ArrayList<>();
        FlowTable shared = FlowTable.of(0, devices, true);
        tables.add(shared);
        int commanders = commandsPerSecond > 0 ? Math.min(consumers, devices) : 0;
        for (int i = 0; i < consumers; i++) {
            clients.add(consumer(i, clients.size(), shared, commanders));
        }
        for (int i = 0; i < devices; i++) {
            FlowTable commands = commanders > 0 ? FlowTable.of(devices + i, 1, false) : null;
            if (commands != null) {
                tables.add(commands);
            }
            clients.add(new ClientSpec(
                    prefix + "-d" + i,
                    clients.size(),
                    i,
                    List.of(down(i)),
                    qos,
                    commands,
                    i,
                    i,
                    List.of(prefix + "/up/" + i),
                    false));
        }
        List<PublisherGroup> groups = new ArrayList<>();
        groups.add(new PublisherGroup("reports", 0, devices, qos, reportsPerSecond));
        if (commanders > 0) {
            groups.add(new PublisherGroup("commands", devices, commanders, qos, commandsPerSecond));
        }
        return new Plan("size", clients, tables, 1, 0, new long[0], groups);
    }

    /** All on one event loop, because they share a table. */
    private ClientSpec consumer(int i, int number, FlowTable shared, int commanders) {
        List<String> topics = new ArrayList<>();
        int from = i < commanders ? (int) ((long) i * devices / commanders) : 0;
        int to = i < commanders ? (int) ((i + 1L) * devices / commanders) : 0;
        for (int device = from; device < to; device++) {
            topics.add(down(device));
        }
        return new ClientSpec(
                prefix + "-c" + i,
                number,
                0,
                List.of("$share/consumers/" + prefix + "/up/+"),
                qos,
                shared,
                topics.isEmpty() ? -1 : devices + i,
                topics.isEmpty() ? -1 : devices + from,
                topics,
                false);
    }

    private String down(int device) {
        return prefix + "/down/" + device;
    }
}

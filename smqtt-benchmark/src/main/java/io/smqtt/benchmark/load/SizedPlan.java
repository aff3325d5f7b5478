// SPDX-License-Identifier: Apache-2.0
package io.smqtt.benchmark.load;

import java.util.ArrayList;
import java.util.List;

/** Devices that publish and subscribe to a topic of their own, consumers that share what the devices publish. */
record SizedPlan(String prefix, int qos, int devices, int consumers) {

    Plan plan() {
        List<ClientSpec> clients = new ArrayList<>();
        FlowTable shared = FlowTable.of(0, devices, true);
        for (int i = 0; i < consumers; i++) {
            clients.add(ClientSpec.subscriber(
                    prefix + "-c" + i,
                    clients.size(),
                    0,
                    List.of("$share/consumers/" + prefix + "/up/+"),
                    qos,
                    shared));
        }
        for (int i = 0; i < devices; i++) {
            clients.add(new ClientSpec(
                    prefix + "-d" + i,
                    clients.size(),
                    i,
                    List.of(prefix + "/down/" + i),
                    qos,
                    null,
                    i,
                    prefix + "/up/" + i));
        }
        return new Plan("size", clients, List.of(shared), 1);
    }
}

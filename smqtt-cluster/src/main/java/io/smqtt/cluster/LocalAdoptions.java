// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.session.AdoptionWatch;
import io.smqtt.session.NodeQueues;
import java.util.List;

/** Reports the stores of other nodes that this one has adopted to the cluster. */
record LocalAdoptions(ClusterNode node) implements AdoptionWatch {

    @Override
    public void adopted(String home, long reign, List<String> leftOut, NodeQueues parked) {
        node.execute(() -> node.clients().servers().adopted(home, reign, leftOut, parked));
    }

    @Override
    public void ending(String home, Runnable done) {
        node.execute(() -> node.clients().servers().ending(home, done));
    }
}

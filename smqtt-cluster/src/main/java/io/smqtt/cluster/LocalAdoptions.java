// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.session.AdoptionWatch;

/** Reports the stores of other nodes that this one has adopted to the cluster. */
record LocalAdoptions(ClusterNode node) implements AdoptionWatch {

    @Override
    public void adopted(String home, long reign) {
        node.execute(() -> node.clients().servers().adopted(home, reign));
    }

    @Override
    public void ending(String home, Runnable done) {
        node.execute(() -> node.clients().servers().ending(home, done));
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.spi.ClusterStatus;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Health of the broker, independent of the version of Spring Boot. Any thread. */
final class BrokerHealth {

    private final BrokerLifecycle lifecycle;

    BrokerHealth(BrokerLifecycle lifecycle) {
        this.lifecycle = lifecycle;
    }

    /**
     * The result of a check.
     *
     * @param up whether all is well
     * @param outOfService whether it is not well, but nothing is broken: it starts, stops, or is in the smaller part of a cluster
     * @param details what was looked at, and how it is
     */
    record Report(boolean up, boolean outOfService, Map<String, String> details) {}

    Report report() {
        Map<String, String> details = new LinkedHashMap<>();
        boolean running = lifecycle.isRunning();
        boolean stored = lifecycle.isStoreHealthy();
        details.put("listeners", running ? "bound" : "closed");
        details.put("store", stored ? "healthy" : "failing");
        List<String> inactive = running ? lifecycle.inactiveListeners() : List.of();
        if (!inactive.isEmpty()) { // clients are served nevertheless
            details.put("inactiveMethods", String.join(", ", inactive));
        }
        ClusterStatus cluster = lifecycle.cluster();
        boolean together = cluster == null || cluster.isReady();
        if (cluster != null) {
            boolean tooFew = !together && cluster.state() == ClusterStatus.State.JOINED;
            details.put(
                    "cluster",
                    tooFew && !cluster.hasKeeper()
                            ? "no node takes stored sessions"
                            : tooFew
                                    ? "too few members"
                                    : cluster.state().name().toLowerCase(Locale.ROOT));
            details.put("nodes", Integer.toString(cluster.fullNodes()));
        }
        return new Report(running && stored && together, stored, details);
    }
}

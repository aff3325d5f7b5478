// SPDX-License-Identifier: Apache-2.0
package io.smqtt.spring;

import io.smqtt.BrokerModule;
import io.smqtt.routing.Subscription;
import io.smqtt.spi.ClusterStatus;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** Looks into the broker for the endpoint. Any thread. */
final class Inspector implements BrokerModule {

    private volatile @Nullable Core core;

    @Override
    public Mono<Void> start(Core started) {
        return Mono.fromRunnable(() -> core = started);
    }

    @Override
    public Mono<Void> stop() {
        return Mono.fromRunnable(() -> core = null);
    }

    /** {@return how the cluster looks from here, or null without one} */
    @Nullable
    ClusterStatus clusterStatus() {
        Core now = core;
        Supplier<ClusterStatus> status = now == null ? null : now.cluster();
        return status == null ? null : status.get();
    }

    /** Shows all subscriptions of this node, without the routes of others, weakly consistent, to a visitor that keeps what it needs. */
    void subscriptions(Consumer<? super Subscription> visitor) {
        Core now = core;
        if (now != null) {
            now.router().index().forEach(subscription -> {
                if (subscription.subscriber().isLocal()) {
                    visitor.accept(subscription);
                }
            });
        }
    }
}

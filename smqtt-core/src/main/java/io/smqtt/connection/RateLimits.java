// SPDX-License-Identifier: Apache-2.0
package io.smqtt.connection;

import io.smqtt.config.BrokerConfig;
import io.smqtt.config.LimitsConfig;
import io.smqtt.config.ListenerConfig;
import io.smqtt.config.UserLimitsConfig;
import io.smqtt.connection.ClientRates.Buckets;
import io.smqtt.spi.Ticker;
import io.smqtt.thread.AnyThread;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The rates of messages and bytes from clients, by client identifier, user and listener. A bucket that connections of several event loops
 * share is spent from by one atomic operation for each read, not for each message.
 */
@AnyThread
public final class RateLimits {

    private final Ticker ticker;
    private final Map<String, Buckets> listeners = new HashMap<>(); // never changed after construction
    private final @Nullable SharedBuckets clients;
    private final @Nullable SharedBuckets users;
    private final boolean drops;

    /**
     * Creates the limits of a broker.
     *
     * @param config the configuration
     * @param ticker the broker's monotonic clock
     */
    public RateLimits(BrokerConfig config, Ticker ticker) {
        this.ticker = ticker;
        LimitsConfig limits = config.limits();
        UserLimitsConfig ofUser = limits.user();
        drops = limits.overRate() == LimitsConfig.OverRate.DROP;
        clients = limits.maxPublishRate() == 0 && limits.maxBytesRate() == 0
                ? null
                : new SharedBuckets(
                        () -> buckets(
                                limits.maxPublishRate(),
                                limits.maxPublishBurst(),
                                limits.maxBytesRate(),
                                limits.maxBytesBurst()),
                        ticker);
        users = ofUser.maxPublishRate() == 0 && ofUser.maxBytesRate() == 0
                ? null
                : new SharedBuckets(
                        () -> buckets(
                                ofUser.maxPublishRate(),
                                ofUser.maxPublishBurst(),
                                ofUser.maxBytesRate(),
                                ofUser.maxBytesBurst()),
                        ticker);
        config.listeners().forEach((name, listener) -> {
            Buckets buckets = of(listener);
            if (!buckets.isEmpty()) {
                listeners.put(name, buckets);
            }
        });
    }

    private Buckets of(ListenerConfig listener) {
        return buckets(
                listener.maxPublishRate(),
                listener.maxPublishBurst(),
                listener.maxBytesRate(),
                listener.maxBytesBurst());
    }

    private Buckets buckets(int messages, int messageBurst, long bytes, long byteBurst) {
        long now = ticker.nanoTime();
        return new Buckets(TokenBucket.of(messages, messageBurst, now), TokenBucket.of(bytes, byteBurst, now));
    }

    /** The rates of a connection, to be closed with it; null if nothing limits it. */
    @Nullable
    ClientRates of(String listener, String clientId, @Nullable String userName) {
        Buckets ofListener = listeners.getOrDefault(listener, Buckets.NONE);
        SharedBuckets shared = userName == null ? null : users;
        if (clients == null && shared == null && ofListener.isEmpty()) {
            return null;
        }
        return new ClientRates(
                clients == null ? Buckets.NONE : clients.connected(clientId),
                shared == null || userName == null ? Buckets.NONE : shared.connected(userName),
                ofListener,
                drops,
                () -> {
                    if (clients != null) {
                        clients.disconnected(clientId);
                    }
                    if (shared != null && userName != null) {
                        shared.disconnected(userName);
                    }
                });
    }

    /** Forgets clients and users without connections whose buckets are full again. */
    public void removeIdle() {
        if (clients != null) {
            clients.removeIdle();
        }
        if (users != null) {
            users.removeIdle();
        }
    }

    /** The number of clients and users that have connections, or whose buckets are not full again. */
    int rememberedCount() {
        return (clients == null ? 0 : clients.count()) + (users == null ? 0 : users.count());
    }
}

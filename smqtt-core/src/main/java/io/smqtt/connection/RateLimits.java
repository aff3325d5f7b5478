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
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * The rates of messages and bytes from clients, by client, user and listener. A bucket that connections of several event loops share is
 * spent from by one atomic operation for each read, not for each message.
 *
 * <p>The buckets of a user exist while the user has connections, and after that until they are full again, so that a user gains nothing by
 * connecting anew. The number of those without connections is bounded. The buckets of a client are full at each connect.
 */
@AnyThread
public final class RateLimits {

    static final int MAX_IDLE_USERS = 100_000;

    private final LimitsConfig limits;
    private final UserLimitsConfig userLimits;
    private final Ticker ticker;
    private final Map<String, Buckets> listeners = new HashMap<>(); // never changed after construction
    private final ConcurrentMap<String, User> users = new ConcurrentHashMap<>();

    /** The users without connections, so that those with connections need not be visited; changed within the changes of the users. */
    private final Set<String> idle = ConcurrentHashMap.newKeySet();

    private final boolean limitsClients;
    private final boolean limitsUsers;

    /** The buckets of a user, and the number of its connections; replaced, never changed. */
    private record User(Buckets buckets, int connections) {}

    /**
     * Creates the limits of a broker.
     *
     * @param config the configuration
     * @param ticker the broker's monotonic clock
     */
    public RateLimits(BrokerConfig config, Ticker ticker) {
        this.limits = config.limits();
        this.userLimits = limits.user();
        this.ticker = ticker;
        this.limitsClients = limits.maxPublishRate() > 0 || limits.maxBytesRate() > 0;
        this.limitsUsers = userLimits.maxPublishRate() > 0 || userLimits.maxBytesRate() > 0;
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
    ClientRates of(String listener, @Nullable String userName) {
        Buckets ofListener = listeners.getOrDefault(listener, Buckets.NONE);
        boolean ofUser = limitsUsers && userName != null;
        if (!limitsClients && !ofUser && ofListener.isEmpty()) {
            return null;
        }
        Buckets own = buckets(
                limits.maxPublishRate(), limits.maxPublishBurst(), limits.maxBytesRate(), limits.maxBytesBurst());
        return ofUser && userName != null
                ? new ClientRates(own, connected(userName), ofListener, () -> disconnected(userName))
                : new ClientRates(own, Buckets.NONE, ofListener, () -> {});
    }

    private Buckets connected(String userName) {
        return users.compute(userName, (name, user) -> {
                    idle.remove(name);
                    return user == null ? new User(ofUser(), 1) : new User(user.buckets, user.connections + 1);
                })
                .buckets;
    }

    private Buckets ofUser() {
        return buckets(
                userLimits.maxPublishRate(),
                userLimits.maxPublishBurst(),
                userLimits.maxBytesRate(),
                userLimits.maxBytesBurst());
    }

    private void disconnected(String userName) {
        users.computeIfPresent(userName, (name, user) -> {
            if (user.connections > 1) {
                return new User(user.buckets, user.connections - 1);
            }
            if (idle.size() >= MAX_IDLE_USERS || user.buckets.isFull(ticker.nanoTime())) {
                return null;
            }
            idle.add(name);
            return new User(user.buckets, 0);
        });
    }

    /** Removes users without connections whose buckets are full again. */
    public void removeIdle() {
        for (String userName : idle) {
            users.computeIfPresent(userName, (name, user) -> {
                boolean isKept = user.connections > 0 || !user.buckets.isFull(ticker.nanoTime());
                if (!isKept) {
                    idle.remove(name);
                }
                return isKept ? user : null;
            });
        }
    }

    int userCount() {
        return users.size();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster.relay;

import io.netty.channel.Channel;
import io.netty.util.concurrent.ScheduledFuture;
import io.smqtt.config.ListenerConfig;
import io.smqtt.connection.ClientLink;
import io.smqtt.connection.ReadPlan;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.net.InetSocketAddress;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A relayed connection as the broker that serves its client sees it: as if the client had connected to this node. */
@OnEventLoop
final class RelayedLink implements ClientLink {

    /** The least time for the CONNECT, which was complete in time at the front node. */
    private static final long SHORTEST_MILLIS = 2_000;

    private static final ListenerConfig TCP = ListenerConfig.of(ListenerConfig.Type.TCP);
    private static final ListenerConfig WS = ListenerConfig.of(ListenerConfig.Type.WS);

    private final RelayFacts facts;
    private final ListenerConfig config;
    private Runnable onTimeout;
    private @Nullable ScheduledFuture<?> deadline;

    /**
     * Creates the link, and starts the rest of the connect timeout.
     *
     * @param channel the connection to the front node
     * @param facts what the front node knows
     */
    RelayedLink(Channel channel, RelayFacts facts) {
        ListenerConfig kind = facts.webSocket() ? WS : TCP;
        boolean plain = facts.maxPacketBytes() == 0 && facts.sync() == kind.sync();
        this.facts = facts;
        this.config = plain
                ? kind
                : kind.toBuilder()
                        .maxPacketBytes(facts.maxPacketBytes())
                        .sync(facts.sync())
                        .build();
        this.onTimeout = channel::close;
        this.deadline = channel.eventLoop()
                .schedule(
                        () -> onTimeout.run(),
                        Math.max(SHORTEST_MILLIS, facts.timeLeft().toMillis()),
                        TimeUnit.MILLISECONDS);
        channel.closeFuture().addListener(closed -> connectComplete());
    }

    @Override
    public String listener() {
        return facts.listener();
    }

    @Override
    public ListenerConfig config() {
        return config;
    }

    @Override
    public InetSocketAddress remoteAddress() {
        return facts.remote();
    }

    @Override
    public boolean local() {
        return facts.local();
    }

    @Override
    public boolean webSocket() {
        return facts.webSocket();
    }

    @Override
    public boolean tls() {
        return facts.tls();
    }

    @Override
    public @Nullable X509Certificate clientCertificate() {
        return facts.certificate();
    }

    @Override
    public @Nullable String certificateUser() {
        return facts.certificateUser();
    }

    @Override
    @AnyThread
    public String front() {
        return facts.front();
    }

    @Override
    public void onConnectTimeout(Runnable action) {
        onTimeout = action;
    }

    @Override
    public Duration connectTimeLeft() {
        ScheduledFuture<?> running = deadline;
        return running == null ? Duration.ZERO : Duration.ofNanos(Math.max(0, running.getDelay(TimeUnit.NANOSECONDS)));
    }

    @Override
    public void connectComplete() {
        if (deadline != null) {
            deadline.cancel(false);
            deadline = null;
        }
    }

    @Override
    public void plan(ReadPlan plan) {}

    @Override
    public void connected() {}
}

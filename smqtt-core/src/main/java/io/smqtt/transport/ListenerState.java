// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import io.netty.channel.EventLoop;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.LimitsConfig;
import io.smqtt.config.ListenerConfig;
import io.smqtt.connection.ClientLog;
import io.smqtt.overload.Overload;
import io.smqtt.spi.BrokerObserver;
import java.net.InetAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The configuration of one listener, and the state that its connections share. */
final class ListenerState {

    private final String name;
    private final ListenerConfig config;
    private final ConnectionAdmission admission;
    private final PendingBudget pending;
    private final BrokerObserver observer;
    private final ClientLog log;
    private final ConnectionInitializer initializer;
    private final Map<EventLoop, LoopConnections> connections = new HashMap<>(); // never changed after construction
    private final int maxPacketBytes;
    private final @Nullable TlsContexts tls;
    private final WebSocketRules webSocketRules;
    private final List<Network> trustedProxies;
    private final AcceptPace pace;
    private final AtomicInteger open = new AtomicInteger();

    ListenerState(
            String name,
            ListenerConfig config,
            LimitsConfig limits,
            EventLoops eventLoops,
            ConnectionAdmission admission,
            PendingBudget pending,
            Overload overload,
            BrokerObserver observer,
            ClientLog log,
            ConnectionInitializer initializer) {
        this.name = name;
        this.config = config;
        this.admission = admission;
        this.pending = pending;
        this.observer = observer;
        this.log = log;
        this.initializer = initializer;
        this.pace = new AcceptPace(config.maxConnectRate(), config.maxConnectBurst(), overload, System::nanoTime);
        this.maxPacketBytes = config.maxPacketBytes() == 0 ? limits.maxPacketBytes() : config.maxPacketBytes();
        this.tls = config.tls() == null ? null : new TlsContexts(key("tls"), config.tls());
        this.webSocketRules = new WebSocketRules(config.path(), config.allowedOrigins(), config.host());
        this.trustedProxies = config.trustedProxies().stream()
                .map(text -> Network.parse(key("trusted-proxies"), text))
                .toList();
        if (config.proxyProtocol() && trustedProxies.isEmpty()) {
            throw new ConfigurationException(key("proxy-protocol") + " needs " + key("trusted-proxies"));
        }
        for (EventLoop loop : eventLoops.all()) {
            connections.put(loop, new LoopConnections());
        }
    }

    String name() {
        return name;
    }

    ListenerConfig config() {
        return config;
    }

    ConnectionAdmission admission() {
        return admission;
    }

    PendingBudget pending() {
        return pending;
    }

    BrokerObserver observer() {
        return observer;
    }

    ClientLog log() {
        return log;
    }

    ConnectionInitializer initializer() {
        return initializer;
    }

    @Nullable
    TlsContexts tls() {
        return tls;
    }

    WebSocketRules webSocketRules() {
        return webSocketRules;
    }

    AcceptPace pace() {
        return pace;
    }

    int maxPacketBytes() {
        return maxPacketBytes;
    }

    /** Those of the calling event loop. */
    LoopConnections connections(EventLoop loop) {
        LoopConnections own = connections.get(loop);
        if (own == null) {
            throw new IllegalStateException("not an event loop of this broker: " + loop);
        }
        return own;
    }

    /** Returns null, or the configuration key of the limit that refuses one more connection. */
    @Nullable
    String opened() {
        if (open.incrementAndGet() > config.maxConnections()) {
            open.decrementAndGet();
            return key("max-connections");
        }
        String limit = admission.opened();
        if (limit != null) {
            open.decrementAndGet();
        }
        return limit;
    }

    void closed() {
        open.decrementAndGet();
        admission.closed();
    }

    /** The number of open connections. */
    int openCount() {
        return open.get();
    }

    /** The connections by event loop; not to be changed. */
    Map<EventLoop, LoopConnections> connections() {
        return connections;
    }

    /** Whether a proxy may send the PROXY header. */
    boolean trusts(InetAddress proxy) {
        for (Network network : trustedProxies) {
            if (network.contains(proxy)) {
                return true;
            }
        }
        return false;
    }

    /** The full configuration key of an option. */
    String key(String option) {
        return "listeners." + name + "." + option;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.smqtt.transport;

import com.github.benmanes.caffeine.cache.Ticker;
import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.util.concurrent.ImmediateEventExecutor;
import io.smqtt.config.BrokerConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.config.ListenerConfig;
import io.smqtt.connection.ClientLink;
import io.smqtt.connection.ClientLog;
import io.smqtt.overload.Overload;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.thread.AnyThread;
import io.smqtt.thread.OnEventLoop;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * All listeners of one broker. They are bound together or not at all. Limits of the whole broker are counted here.
 */
@AnyThread
public final class Listeners {

    private final ConnectionAdmission admission;
    private final PendingBudget pending;
    private final EventLoops eventLoops;
    private final BrokerObserver observer;
    private final ConnectionInitializer initializer;
    private final Overload overload;
    private final ChannelGroup served = new DefaultChannelGroup(ImmediateEventExecutor.INSTANCE, true);
    private final List<Listener> listeners = new ArrayList<>(); // never changed after construction

    /**
     * Prepares the listeners without binding them. Reads certificates and keys, so it may block.
     *
     * @param config the broker's configuration
     * @param eventLoops the event loops of the connections; closed by the caller
     * @param overload how overloaded the broker is
     * @param observer notified of opened and refused connections, and of those closed before the initializer was called
     * @param log the log lines about clients
     * @param initializer called for every connection that is ready for MQTT
     * @throws ConfigurationException if a file or a network cannot be used
     */
    public Listeners(
            BrokerConfig config,
            EventLoops eventLoops,
            Overload overload,
            BrokerObserver observer,
            ClientLog log,
            ConnectionInitializer initializer) {
        this.eventLoops = eventLoops;
        this.observer = observer;
        this.initializer = initializer;
        this.overload = overload;
        ConnectRates rates = new ConnectRates(config.limits().connectRatePerAddress(), Ticker.systemTicker());
        admission = new ConnectionAdmission(config.limits(), rates);
        pending = new PendingBudget(
                config.limits().maxPendingBytes(),
                config.limits().maxPendingBytesPerAddress(),
                eventLoops.all(),
                admission::pendingFrom);
        config.listeners()
                .forEach((name, listener) -> listeners.add(new Listener(
                        new ListenerState(
                                name,
                                listener,
                                config.limits(),
                                eventLoops,
                                admission,
                                pending,
                                overload,
                                observer,
                                log,
                                initializer),
                        eventLoops)));
    }

    /**
     * Prepares a connection that this broker opens, on one of its event loops.
     *
     * @return a new bootstrap without handler and address; the channel reads by demand
     */
    public Bootstrap outgoing() {
        return eventLoops.outgoing();
    }

    /**
     * The same on one of its event loops.
     *
     * @param loop an event loop of this broker
     * @return a new bootstrap without handler and address; the channel reads by demand
     */
    public Bootstrap outgoing(EventLoop loop) {
        return eventLoops.outgoing(loop);
    }

    /**
     * Prepares a port that is no listener, for other nodes.
     *
     * @return a new bootstrap without handlers and address; its connections are on the event loops of this broker and read by demand
     */
    public ServerBootstrap accepting() {
        return eventLoops.accepting();
    }

    /**
     * Serves a channel of {@link #outgoing()} or {@link #accepting()} as the connection of a client: adds the MQTT handler behind the handlers that are there. On
     * the event loop of the channel, once.
     *
     * @param channel the channel, active
     * @param link the connection, whose listener is a name for meters only
     */
    @OnEventLoop
    public void serve(Channel channel, ClientLink link) {
        observer.connectionOpened(link.listener());
        initializer.initialize(channel, link);
    }

    /**
     * The same for a client, whose connection counts as one of this broker's and is closed with them.
     *
     * @param channel the channel, active
     * @param link the connection
     */
    @OnEventLoop
    public void serveClient(Channel channel, ClientLink link) {
        served.add(channel);
        serve(channel, link);
    }

    /**
     * Whether new clients get CONNACK 0x89 because the broker is overloaded.
     *
     * @return true from level 2 on
     */
    public boolean refusesClients() {
        return overload.refusesConnects();
    }

    /**
     * Reads the certificates, keys and networks of one listener as the constructor would. Blocks.
     *
     * @param name the listener's name
     * @param config its options
     * @throws ConfigurationException if a file or a network cannot be used
     */
    public static void check(String name, ListenerConfig config) {
        String key = "listeners." + name + ".";
        config.trustedProxies().forEach(network -> Network.parse(key + "trusted-proxies", network));
        if (config.tls() != null) {
            TlsContexts.check(key + "tls", config.tls());
        }
    }

    /**
     * Binds all listeners, in the order of the configuration. If one fails, those already bound are closed.
     *
     * @return completes when all accept connections; fails with {@link BindFailedException}
     */
    public Mono<Void> bind() {
        return Flux.fromIterable(listeners)
                .concatMap(Listener::bind)
                .then()
                .onErrorResume(failure -> close().then(Mono.error(failure)));
    }

    /**
     * The bound addresses, with the real port if the configured one is 0.
     *
     * @return the addresses by listener name, in the order of the configuration; without those not bound
     */
    public Map<String, InetSocketAddress> addresses() {
        Map<String, InetSocketAddress> addresses = new LinkedHashMap<>();
        for (Listener listener : listeners) {
            InetSocketAddress address = listener.address();
            if (address != null) {
                addresses.put(listener.state().name(), address);
            }
        }
        return addresses;
    }

    /**
     * Reloads the certificates, keys and client authorities of all listeners. Existing connections are not affected; new ones use the new
     * files. A listener whose files cannot be used keeps the old ones. Blocks: not for event loops.
     *
     * @param done called for each file that was read, once for each listener with it
     * @throws ConfigurationException if the files of a listener cannot be used, with those of further ones suppressed
     */
    public void reloadCertificates(Consumer<Path> done) {
        ConfigurationException failure = null;
        for (Listener listener : listeners) {
            TlsContexts tls = listener.state().tls();
            try {
                if (tls != null) {
                    tls.reload().forEach(done);
                }
            } catch (ConfigurationException e) {
                if (failure == null) {
                    failure = e;
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    /**
     * The number of open connections with an accepted CONNECT, and of those that {@link #serveClient} has got.
     *
     * @return connections of all listeners, and of clients that came otherwise
     */
    public int connectedCount() {
        return admission.openCount() - admission.pendingCount() + served.size();
    }

    /**
     * The number of pending connections: their handshake or CONNECT is not complete, or has no answer yet.
     *
     * @return connections of all listeners
     */
    public int pendingCount() {
        return admission.pendingCount();
    }

    /**
     * How often accepting was paused, because a listener's {@code max-connect-rate} was exceeded, or the broker is overloaded.
     *
     * @return pauses of all listeners, since the start
     */
    public long acceptPauses() {
        return listeners.stream()
                .mapToLong(listener -> listener.state().pace().pauses())
                .sum();
    }

    /**
     * The bytes received on pending connections.
     *
     * @return bytes, as they count against {@code limits.max-pending-bytes}
     */
    public long pendingBytes() {
        return pending.bytes();
    }

    /**
     * Describes all listeners.
     *
     * @return their state, in the order of the configuration
     */
    public List<ListenerStatus> status() {
        return listeners.stream().map(Listener::status).toList();
    }

    /**
     * Binds a listener that was stopped, after a start or stop that is in progress.
     *
     * @param name its name
     * @return completes when it accepts connections, at once if it does already; fails with {@link BindFailedException}
     * @throws IllegalArgumentException if there is none with this name
     */
    public Mono<Void> start(String name) {
        Listener listener = named(name);
        return listener.inTurn(Mono.defer(() -> listener.isBound() ? Mono.empty() : listener.bind()));
    }

    /**
     * Closes the port of a listener and all of its connections, without DISCONNECT.
     *
     * @param name its name
     * @return completes when closing has begun for every connection
     * @throws IllegalArgumentException if there is none with this name
     */
    public Mono<Void> stop(String name) {
        Listener listener = named(name);
        return listener.inTurn(listener.stopAccepting().then(Mono.defer(listener::closeConnections)));
    }

    private Listener named(String name) {
        for (Listener listener : listeners) {
            if (listener.state().name().equals(name)) {
                return listener;
            }
        }
        throw new IllegalArgumentException("there is no listener " + name);
    }

    /**
     * Closes the bound ports; connections stay open. Can be called more than once.
     *
     * @return completes when the ports are closed
     */
    public Mono<Void> stopAccepting() {
        return Flux.fromIterable(listeners).flatMap(Listener::stopAccepting).then();
    }

    /**
     * Closes the ports and every connection that is still open, whatever its state. Can be called more than once.
     *
     * @return completes when closing has begun for every connection
     */
    public Mono<Void> close() {
        return stopAccepting()
                .then(Flux.fromIterable(listeners)
                        .flatMap(Listener::closeConnections)
                        .then())
                .then(Mono.fromRunnable(served::close));
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.smqtt.BrokerModule;
import io.smqtt.config.BridgeConfig;
import io.smqtt.config.BridgeTopic;
import io.smqtt.session.InProcess;
import io.smqtt.session.Session;
import io.smqtt.session.SessionContents;
import io.smqtt.spi.BridgeStatus;
import io.smqtt.thread.AnyThread;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Keeps one connection to another broker: one attempt at a time, with a growing delay between attempts that fail. */
@AnyThread
final class Bridge {

    private static final Logger LOG = LoggerFactory.getLogger(Bridge.class);
    private static final Duration STABLE = Duration.ofSeconds(30);

    private final String name;
    private final BridgeConfig config;
    private final byte @Nullable [] password;
    private final BrokerModule.Core core;
    private final String clientId;
    private final TopicMap map;
    private final List<BridgeTopic> topics;
    private final BridgeCounts counts = new BridgeCounts();

    // guarded by this
    private boolean running;
    private int attempts;
    private int failures;
    private int nextAddress;
    private String address = "";
    private long upNanos;
    private boolean up;
    private boolean ending;
    private boolean bridgeBit;
    private boolean reset;
    private Instant since = Instant.now();
    private @Nullable Disposable waiting;
    private @Nullable Channel channel;
    private @Nullable BridgeHandler handler;
    private @Nullable String lastProblem;
    private @Nullable String lastError;

    Bridge(String name, BridgeConfig config, byte @Nullable [] password, BrokerModule.Core core) {
        this.name = name;
        this.config = config;
        this.password = password;
        this.core = core;
        this.clientId = config.clientId().isEmpty() ? HostName.read() + "." + name : config.clientId();
        this.topics = config.parsedTopics();
        this.map = new TopicMap(topics);
        this.bridgeBit = config.tryPrivate() && !config.isV5();
    }

    String name() {
        return name;
    }

    BridgeConfig config() {
        return config;
    }

    /** The client identifier at the other broker. */
    String clientId() {
        return clientId;
    }

    byte @Nullable [] password() {
        return password;
    }

    BrokerModule.Core core() {
        return core;
    }

    TopicMap map() {
        return map;
    }

    List<BridgeTopic> topics() {
        return topics;
    }

    BridgeCounts counts() {
        return counts;
    }

    /** The state of the moment. */
    synchronized BridgeStatus status() {
        Session session = core.sessions().find(sessionId());
        return new BridgeStatus(
                name,
                state(),
                address,
                since,
                lastError,
                session == null ? 0 : session.queuedCount(),
                counts.sent(),
                counts.receivedCount(),
                counts.resent(),
                session == null ? 0 : new SessionContents(session).dropped(),
                counts.rttNanos());
    }

    private BridgeStatus.State state() {
        if (!running) {
            return BridgeStatus.State.STOPPED;
        }
        if (up) {
            return BridgeStatus.State.CONNECTED;
        }
        return lastProblem == null ? BridgeStatus.State.CONNECTING : BridgeStatus.State.DISCONNECTED;
    }

    /** The client identifier at this broker. */
    String sessionId() {
        return InProcess.BRIDGE_PREFIX + name;
    }

    /** Begins to connect, if it does not do so. */
    synchronized void start() {
        if (running) {
            return;
        }
        running = true;
        since = Instant.now();
        lastProblem = null;
        failures = 0;
        if (!ending) { // else when the former connection has ended
            attempt(Duration.ZERO);
        }
    }

    /** Connects no more; the connection ends with the broker's. */
    synchronized void drain() {
        if (!running) {
            return;
        }
        running = false;
        since = Instant.now();
        if (waiting != null) {
            waiting.dispose();
        }
    }

    /** Ends the connection, and connects no more. */
    synchronized void stop() {
        drain();
        if (channel != null && handler != null) {
            ending = true;
            handler.end(channel);
        }
    }

    /** Ends the connection, and begins a new one. */
    synchronized void restart() {
        stop();
        start();
    }

    private synchronized void attempt(Duration delay) {
        if (!running) {
            return;
        }
        int number = ++attempts;
        String next = config.addresses().get(nextAddress % config.addresses().size());
        address = next;
        waiting = Mono.delay(delay, Schedulers.parallel())
                .publishOn(Schedulers.boundedElastic())
                .map(tick -> resolve(next))
                .subscribe(target -> dial(number, next, target), error -> unresolved(number, next, problem(error)));
    }

    private synchronized void unresolved(int number, String tried, String problem) {
        if (number == attempts) {
            failed(tried, problem);
        }
    }

    /** Looks up a host. Blocks. */
    private static InetSocketAddress resolve(String address) {
        int colon = address.lastIndexOf(':');
        String host = address.substring(0, colon);
        String plain = host.startsWith("[") ? host.substring(1, host.length() - 1) : host;
        try {
            return new InetSocketAddress(InetAddress.getByName(plain), Integer.parseInt(address.substring(colon + 1)));
        } catch (UnknownHostException e) {
            throw new IllegalStateException("the name " + plain + " does not resolve", e);
        }
    }

    private static String problem(Throwable error) {
        String message = error.getMessage();
        return message == null ? error.getClass().getSimpleName() : message;
    }

    private synchronized void dial(int number, String address, InetSocketAddress target) {
        if (!running || number != attempts) {
            return;
        }
        BridgeHandler dialling = new BridgeHandler(this, address, target, bridgeBit, reset);
        reset = false;
        ChannelFuture connecting = core.listeners()
                .outgoing()
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int)
                        config.connectTimeout().toMillis())
                .handler(dialling)
                .connect(target);
        channel = connecting.channel();
        handler = dialling;
        connecting.addListener(done -> {
            Throwable cause = done.cause();
            if (cause != null) {
                failed(address, problem(cause));
            }
        });
    }

    /** The other broker has accepted the connection, and our session is open. */
    synchronized void connected(String address) {
        up = true;
        since = Instant.now();
        upNanos = System.nanoTime();
        lastProblem = null;
        LOG.info("bridge {} connected to {}", name, address);
    }

    /** The other broker does not know the bridge bit: asks again without it, at once. */
    synchronized void withoutBridgeBit(String address) {
        bridgeBit = false;
        LOG.info("bridge {}: {} does not know the bridge bit, connecting without it", name, address);
    }

    /** The session at the other broker is of no use: the next attempt begins a new one. */
    synchronized void beginAnew() {
        reset = true;
    }

    /** The connection is closed as intended, and the next attempt is to be made at once. */
    synchronized void again() {
        channel = null;
        ending = false;
        attempt(Duration.ZERO);
    }

    /** An attempt has failed, or the connection has ended. */
    synchronized void failed(String address, String problem) {
        boolean wasUp = up;
        up = false;
        channel = null;
        if (ending) { // by an operator, who may have started it again
            ending = false;
            attempt(Duration.ZERO);
            return;
        }
        if (!running) {
            return;
        }
        if (wasUp || lastProblem == null) {
            since = Instant.now();
        }
        if (wasUp && System.nanoTime() - upNanos >= STABLE.toNanos()) {
            failures = 0;
        }
        nextAddress++;
        long longest = config.maxDelay().toMillis();
        long delay = Math.min(longest, config.minDelay().toMillis() << Math.min(failures, 20));
        failures++;
        long jittered = delay - ThreadLocalRandom.current().nextLong(delay / 2 + 1);
        if (wasUp || !problem.equals(lastProblem)) {
            LOG.warn(
                    "bridge {} is {} {}: {}; next attempt in {} ms",
                    name,
                    wasUp ? "no longer connected to" : "not connected to",
                    address,
                    problem,
                    jittered);
        }
        lastProblem = problem;
        lastError = problem;
        attempt(Duration.ofMillis(jittered));
    }
}

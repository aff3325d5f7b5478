// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.smqtt.BrokerModule;
import io.smqtt.config.BridgeAddress;
import io.smqtt.config.BridgeConfig;
import io.smqtt.config.BridgeTopic;
import io.smqtt.log.LogLimiter;
import io.smqtt.message.ReasonCode;
import io.smqtt.session.InProcess;
import io.smqtt.session.Session;
import io.smqtt.spi.BridgeStatus;
import io.smqtt.spi.Bridges;
import io.smqtt.spi.ClusterStatus;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.TopicFilter;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Keeps one connection of a bridge to another broker: one attempt at a time, with a growing delay between attempts that fail. */
@AnyThread
final class Bridge {

    private static final Logger LOG = LoggerFactory.getLogger(Bridge.class);
    private static final Duration STABLE = Duration.ofSeconds(30);

    private final String bridgeName;
    private final String name;
    private final BridgeConfig config;
    private final BridgeFiles files;
    private final BrokerModule.Core core;
    private final String clientId;
    private final TopicMap map;
    private final List<BridgeTopic> topics;
    private final String brokerId;
    private final Dialler dialler;
    private final StateNotices state;
    private final @Nullable FirstAddress first; // with round-robin: false
    private final @Nullable LazyStart lazy; // with start: lazy
    private final StandingOrder order;
    private final RemoteFilters remote;
    private final BridgeCounts counts = new BridgeCounts();
    private final BridgeLog log;
    private final RemoteSession remoteSession;
    private final OwnSession own;
    private final OpenExchanges exchanges = new OpenExchanges();
    private final ArrivedExchanges arrivals;
    private final LogLimiter changes = new LogLimiter(LOG, Level.WARN, 1);
    private final Set<TopicFilter> awaitRetained = ConcurrentHashMap.newKeySet();

    private volatile boolean fresh;

    // guarded by this
    private final AddressTurn turn;
    private boolean wanted;
    private boolean chosen;
    private boolean asleep; // until messages wait
    private boolean running;
    private int attempts;
    private int failures;
    private String address = "";
    private long upNanos;
    private boolean up;
    private boolean ending;
    private boolean bridgeBit;
    private Instant since = Instant.now();
    private @Nullable Disposable waiting;
    private @Nullable Channel channel;
    private @Nullable BridgeHandler handler;
    private @Nullable String lastProblem;
    private @Nullable String lastError;

    /**
     * Creates a connection of a bridge.
     *
     * @param number its number, from 0; the first one alone takes messages of the other broker
     * @param brokerId identifies this broker in {@code smqtt-hops}
     */
    Bridge(String bridge, int number, BridgeConfig config, BridgeFiles files, BrokerModule.Core core, String brokerId) {
        this.bridgeName = bridge;
        this.name = BridgeConfig.connectionName(bridge, number);
        this.log = new BridgeLog(name);
        this.config = config;
        this.files = files;
        this.core = core;
        String first = config.clientId().isEmpty() ? HostName.read() + "." + bridge : config.clientId();
        this.clientId = clientId(first, number);
        this.chosen = !isElected();
        this.topics = config.parsedTopics().stream()
                .map(topic -> number == 0 ? topic : topic.withoutIn())
                .toList();
        this.remoteSession = new RemoteSession(name, topics.stream().anyMatch(BridgeTopic::in));
        this.turn = new AddressTurn(config.parsedAddresses());
        this.map = new TopicMap(topics);
        this.bridgeBit = config.tryPrivate() && !config.isV5();
        this.brokerId = brokerId;
        this.state = new StateNotices(core, config, name, config.stateTopic(clientId()), sessionId(), isElected());
        this.own = new OwnSession(core, sessionId(), counts, log, () -> address);
        this.lazy = config.start() == BridgeConfig.Start.LAZY ? new LazyStart(config) : null;
        this.asleep = lazy != null;
        this.order = new StandingOrder(core, name);
        this.remote = new RemoteFilters(core, this);
        this.arrivals = new ArrivedExchanges(
                own::here,
                new BridgeNote(core, "$smqtt/bridge-received/", name, config.isEach(), this::clientId),
                config.addresses(),
                topics,
                isElected());
        this.dialler = new Dialler(files.tls(), config);
        this.first = config.roundRobin() || config.addresses().size() == 1
                ? null
                : new FirstAddress(turn.address(), config, dialler, core, this::returnToFirst);
    }

    /** The client identifier of a connection at the other broker, without the name of a node. */
    static String clientId(String ofFirst, int number) {
        return number == 0 ? ofFirst : ofFirst + '-' + (number + 1);
    }

    /** The name of the connection: that of the bridge for the first one. */
    String name() {
        return name;
    }

    /** The name in the configuration. */
    String bridgeName() {
        return bridgeName;
    }

    BridgeConfig config() {
        return config;
    }

    /** The client identifier at the other broker. */
    String clientId() {
        Supplier<ClusterStatus> cluster = core.cluster();
        return cluster == null || !config.isEach()
                ? clientId
                : clientId + "-" + cluster.get().self().nodeId();
    }

    /** Whether one of several nodes connects it. */
    boolean isElected() {
        return core.cluster() != null && !config.isEach();
    }

    byte @Nullable [] password() {
        return files.password();
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

    /** The subscriptions at the other broker. */
    RemoteFilters remote() {
        return remote;
    }

    BridgeCounts counts() {
        return counts;
    }

    /** Whether messages that go in circles are found. */
    boolean countsHops() {
        return config.isV5() && config.hopLimit() > 0;
    }

    /** A new check of messages that go in circles, for those that leave or arrive; null if there is none. */
    @Nullable
    HopCheck hopCheck(boolean leaving) {
        return countsHops() ? new HopCheck(brokerId, config.hopLimit(), leaving) : null;
    }

    /** Whether the retained messages of a topic that goes out have not been asked for yet. Once true, then false. */
    boolean wantsRetained(BridgeTopic topic) {
        return awaitRetained.remove(topic.local());
    }

    /** Opens the session, in which messages wait from now on; if one of several nodes has it, that is done when it connects. */
    Mono<Void> open() {
        state.begin();
        if (core.cluster() != null) {
            removeFormer();
        }
        if (isElected()) {
            return Mono.empty();
        }
        return BridgeSession.open(core, name, sessionId(), config.localUser(), topics)
                .doOnNext(this::opened)
                .then();
    }

    private void opened(BridgeSession.Opened session) {
        awaitRetained.addAll(session.added());
        fresh = !session.wasPresent();
    }

    /** Whether the session has begun with this run of the broker and has not been at the other broker yet. */
    boolean isFresh() {
        return fresh;
    }

    /** The state of the moment. */
    synchronized BridgeStatus status() {
        return new BridgeStatus(
                name,
                stateNow(),
                address,
                since,
                lastError,
                own.waiting(),
                counts.sent(),
                counts.receivedCount(),
                counts.resent(),
                counts.notSentCounts(own.dropped()),
                counts.notTakenCounts(),
                counts.refusedCount(),
                counts.rttNanos());
    }

    private BridgeStatus.State stateNow() {
        if (!running) {
            return wanted ? BridgeStatus.State.STANDBY : BridgeStatus.State.STOPPED;
        }
        if (up) {
            return BridgeStatus.State.CONNECTED;
        }
        return lastProblem == null ? BridgeStatus.State.CONNECTING : BridgeStatus.State.DISCONNECTED;
    }

    /** The client identifier at this broker. */
    String sessionId() {
        return InProcess.bridge(name, config.isEach());
    }

    /** Ends the session that the bridge had when {@code nodes} was another one. */
    private void removeFormer() {
        Session former = core.sessions().find(InProcess.bridge(name, !config.isEach()));
        if (former != null) {
            LOG.warn(
                    "bridge {}: nodes was changed, and {} messages that waited until then are dropped",
                    name,
                    former.queuedCount());
            former.execute(() -> former.terminate(ReasonCode.ADMINISTRATIVE_ACTION));
        }
    }

    /** Does what an operator orders. If one of several nodes connects the bridge, the order is for all of them. */
    void operate(Bridges.Operation operation) {
        if (isElected()) {
            order.give(operation != Bridges.Operation.STOP);
        }
        switch (operation) {
            case START -> startNow();
            case STOP -> stop();
            case RESTART -> restart();
        }
    }

    /** Follows the order that an operator has given at another node, if there is a new one. */
    void followOrder() {
        Boolean connect = order.take();
        if (connect == null) {
            return;
        }
        if (connect) {
            startNow();
        } else {
            stop();
        }
    }

    /** Begins to connect, if it does not do so and this node is the one that connects it; if it is lazy, when messages wait. */
    synchronized void start() {
        wanted = true;
        begin();
    }

    private synchronized void startNow() {
        asleep = false;
        start();
    }

    /** Connects if enough messages wait, or ends the connection if none has passed for some time. For a lazy bridge, once a second. */
    synchronized void lookAround() {
        LazyStart decides = lazy;
        if (decides == null || !wanted || !chosen) {
            return;
        }
        LazyStart.View view = LazyStart.View.of(own, counts);
        if (asleep && decides.begins(view)) {
            asleep = false;
            begin();
        } else if (up && !ending && decides.isIdle(view, System.nanoTime())) {
            asleep = true;
            if (changes.allows("bridge " + name + " idle")) {
                LOG.info(
                        "bridge {}: no message for {} has passed for the idle-timeout, ending the connection",
                        name,
                        address);
            }
            end();
        }
    }

    /** This node is, or is not, the one that connects the bridge. */
    synchronized void choose(boolean now) {
        if (now == chosen) {
            return;
        }
        chosen = now;
        LOG.info("bridge {}: {}", name, now ? "this node connects it from now on" : "another node connects it");
        if (now) {
            state.publish(false);
            begin();
        } else {
            end();
        }
    }

    private void begin() {
        if (running || !wanted || !chosen || asleep) {
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
        wanted = false;
        halt();
    }

    private void halt() {
        if (!running) {
            return;
        }
        running = false;
        since = Instant.now();
        if (waiting != null) {
            waiting.dispose();
        }
        endTries();
    }

    private void endTries() {
        if (first != null) {
            first.end();
        }
    }

    /** The first address answers while the bridge is connected to another one. */
    private synchronized void returnToFirst(int ofHost) {
        if (!running || !up || ending || channel == null || handler == null) {
            return;
        }
        turn.first(ofHost);
        LOG.info("bridge {}: {} answers, returning to it", name, turn.address().text());
        since = Instant.now();
        ending = true;
        handler.end(channel);
    }

    /** Ends the connection, and connects no more. */
    synchronized void stop() {
        wanted = false;
        end();
    }

    private void end() {
        halt();
        if (channel != null && handler != null) {
            ending = true;
            handler.end(channel);
        }
    }

    /** Ends the connection, and begins a new one. */
    synchronized void restart() {
        stop();
        startNow();
    }

    private synchronized void attempt(Duration delay) {
        if (!running) {
            return;
        }
        int number = ++attempts;
        BridgeAddress next = turn.address();
        int ofHost = turn.ofHost();
        address = next.text();
        waiting = Mono.delay(delay, Schedulers.parallel())
                .publishOn(Schedulers.boundedElastic())
                .map(tick -> Dialler.resolve(next, ofHost))
                .subscribe(target -> dial(number, next, target), error -> unresolved(number, next, error));
    }

    private synchronized void unresolved(int number, BridgeAddress tried, Throwable error) {
        if (number == attempts) {
            failed(tried.text(), FailureText.of(error));
        }
    }

    private synchronized void dial(int number, BridgeAddress next, InetSocketAddress target) {
        if (!running || number != attempts) {
            return;
        }
        BridgeHandler dialling =
                new BridgeHandler(this, next, target, bridgeBit, remoteSession.plan(next.text()), state.topicThere());
        ChannelFuture connecting = dialler.dial(core.listeners().outgoing(), next, target, dialling);
        channel = connecting.channel();
        handler = dialling;
        connecting.addListener(done -> {
            Throwable cause = done.cause();
            if (cause != null) {
                failed(next.text(), FailureText.of(cause));
            }
        });
    }

    /** The other broker has accepted the connection, and our session is open. */
    synchronized void connected(String to) {
        up = true;
        fresh = false;
        state.publish(true);
        if (first != null) {
            first.connected(turn.isFirst());
        }
        since = Instant.now();
        upNanos = System.nanoTime();
        if (lazy != null) {
            lazy.connected(LazyStart.View.of(own, counts), upNanos);
        }
        lastProblem = null;
        if (changes.allows("bridge " + name + " connected to " + to)) {
            LOG.info("bridge {} connected to {}", name, to);
        }
    }

    /** The other broker does not know the bridge bit: asks again without it, at once. */
    synchronized void withoutBridgeBit(String at) {
        bridgeBit = false;
        LOG.info("bridge {}: {} does not know the bridge bit, connecting without it", name, at);
    }

    /** The other broker has ended a connection without an answer, which may be because of the bridge bit: tries it in turn with and without. */
    synchronized void unanswered(boolean withBridgeBit) {
        bridgeBit = !withBridgeBit && config.tryPrivate() && !config.isV5();
    }

    /** The topic of the state of the connection. */
    StateNotices state() {
        return state;
    }

    /** Our session. */
    OwnSession own() {
        return own;
    }

    /** The packet identifiers of QoS 2 that came from each address. */
    ArrivedExchanges arrivals() {
        return arrivals;
    }

    /** The exchanges of QoS 2 that have not ended, by address. */
    OpenExchanges exchanges() {
        return exchanges;
    }

    /** The plan of the next connection for the session at the other broker. */
    RemoteSession remoteSession() {
        return remoteSession;
    }

    /** The connection is closed as intended, and the next attempt is to be made at once. */
    synchronized void again() {
        if (up) {
            up = false;
            since = Instant.now();
            state.publish(false);
        }
        endTries();
        channel = null;
        ending = false;
        attempt(Duration.ZERO);
    }

    /** An attempt has failed, or the connection has ended. */
    synchronized void failed(String tried, String problem) {
        boolean wasUp = up;
        up = false;
        channel = null;
        endTries();
        if (wasUp) {
            state.publish(false);
        } else {
            state.wantAgain();
        }
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
        if (config.start() == BridgeConfig.Start.ONCE) {
            endOnce(tried, problem);
            return;
        }
        if (wasUp && System.nanoTime() - upNanos >= STABLE.toNanos()) {
            failures = 0;
        }
        turn.advance();
        long longest = config.maxDelay().toMillis();
        long delay = Math.min(longest, config.minDelay().toMillis() << Math.min(failures, 20));
        failures++;
        long jittered = delay - ThreadLocalRandom.current().nextLong(delay / 2 + 1);
        boolean told = wasUp ? changes.allows("bridge " + name + ": " + problem) : !problem.equals(lastProblem);
        if (told) {
            LOG.warn(
                    "bridge {} is {} {}: {}; next attempt in {} ms",
                    name,
                    wasUp ? "no longer connected to" : "not connected to",
                    tried,
                    problem,
                    jittered);
        }
        lastProblem = problem;
        lastError = problem;
        attempt(Duration.ofMillis(jittered));
    }

    private void endOnce(String tried, String problem) {
        LOG.warn("bridge {} is not connected to {}: {}; start: once makes no other attempt", name, tried, problem);
        wanted = false;
        running = false;
        since = Instant.now();
        lastProblem = problem;
        lastError = problem;
    }

    /** The log of messages that are not passed on. */
    BridgeLog log() {
        return log;
    }
}

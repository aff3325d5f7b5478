// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules;

import io.smqtt.BrokerModule;
import io.smqtt.ConsumerOptions;
import io.smqtt.MessageFlux;
import io.smqtt.ReceivedMessage;
import io.smqtt.config.RuleActionConfig;
import io.smqtt.log.LogLimiter;
import io.smqtt.log.Outage;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.LogText;
import io.smqtt.message.QoS;
import io.smqtt.rules.sink.RuleTrail;
import io.smqtt.rules.sink.Sink;
import io.smqtt.rules.sink.SinkRecord;
import io.smqtt.rules.sql.RuleBudget;
import io.smqtt.rules.sql.RuleInput;
import io.smqtt.rules.sql.RuleOutcome;
import io.smqtt.rules.sql.RuleProgram;
import io.smqtt.session.ConsumerPressure;
import io.smqtt.session.InProcess;
import io.smqtt.session.Session;
import io.smqtt.session.SessionContents;
import io.smqtt.session.SessionRegistry;
import io.smqtt.spi.RuleStatus;
import io.smqtt.thread.AnyThread;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * An action of a rule: a durable consumer that acknowledges a message when the sink has all rows of it. The queue of the consumer is the buffer of
 * the action; it survives a crash of the process.
 */
@AnyThread
final class RuleAction implements Lane.Outcomes {

    private static final Logger LOG = LoggerFactory.getLogger(RuleAction.class);
    private static final long MOST_ROW_BYTES = 64L << 20;
    private static final long ROW_BYTES = 200; // with its place in a lane
    private static final long COLUMN_BYTES = 64; // an entry of a map, and a boxed value
    private static final Duration AGAIN = Duration.ofSeconds(5);
    private static final LogLimiter LINES = new LogLimiter(LOG, Level.WARN, 1);

    /** How the consumers of rules of the configuration begin, and those of operators. */
    static final String CONFIGURED = "rule:";

    static final String LIVE = "live-rule:";

    /** What the actions of a rule have in common. */
    record Shared(
            String rule,
            RuleProgram program,
            List<String> filters,
            RuleBudget budget,
            BrokerModule.Core core,
            RuleThreads threads,
            DeadLetters deadLetters,
            String node,
            boolean stored,
            boolean live) {}

    private final Shared shared;
    private final String name;
    private final RuleActionConfig config;
    private final Sink sink;
    private final RuleCounts counts;
    private final List<Lane> lanes = new ArrayList<>();
    private final RowMemory<ReceivedMessage> memory = new RowMemory<>(MOST_ROW_BYTES, this::evaluate);
    private final Outage outage;
    private volatile boolean subscribed;
    private volatile boolean began;
    private volatile boolean stopped;
    private volatile @Nullable String lastError;
    private volatile boolean failing;
    private volatile @Nullable Messages messages;
    private volatile @Nullable Session unnamed; // of the consumer, without a store
    private final AtomicInteger owed = new AtomicInteger(); // messages for which there is no demand yet
    private final Runnable asking = this::askForOwed;

    /** With the account that it continues. */
    RuleAction(Shared shared, String name, RuleActionConfig config, Sink sink, RuleCounts counts) {
        this.shared = shared;
        this.name = name;
        this.config = config;
        this.sink = sink;
        this.counts = counts;
        this.outage = new Outage(
                LOG, Level.WARN, "rule " + label() + ": the sink fails", "rule " + label() + ": the sink works again");
        for (int i = 0; i < config.lanes(); i++) {
            lanes.add(new Lane(sink, config, this));
        }
    }

    String name() {
        return name;
    }

    String label() {
        return shared.rule() + '/' + name;
    }

    /** Whether it takes no more messages, for good. */
    boolean isStopped() {
        return stopped;
    }

    RuleCounts counts() {
        return counts;
    }

    RuleStatus.Action status() {
        return new RuleStatus.Action(name, config.type(), problem(), counts.snapshot(waiting(), queueDropped()));
    }

    /** The reason for which messages do not reach the sink; null if they do. */
    private @Nullable String problem() {
        if (failing) {
            return lastError;
        }
        return subscribed ? null : "its queue is not subscribed yet";
    }

    /** Checks the sink: an empty text if it can be reached, otherwise the reason. */
    Mono<String> probe() {
        return check(sink, config);
    }

    /** Checks a sink: an empty text if it can be reached, otherwise the reason. */
    static Mono<String> check(Sink sink, RuleActionConfig config) {
        return sink.check()
                .timeout(config.timeout())
                .thenReturn("")
                .onErrorResume(TimeoutException.class, late -> Mono.just(Lane.noAnswer(config)))
                .onErrorResume(error -> Mono.just(String.valueOf(error.getMessage())));
    }

    /** The name of the durable consumer of an action. */
    static String consumer(boolean live, String rule, String action) {
        return (live ? LIVE : CONFIGURED) + rule + ':' + action;
    }

    private long waiting() {
        Session session = session();
        return session == null ? 0 : session.queuedCount();
    }

    private long queueDropped() {
        Session session = session();
        return session == null ? 0 : new SessionContents(session).dropped();
    }

    private @Nullable Session session() {
        SessionRegistry sessions = shared.core().sessions();
        if (shared.stored()) {
            return sessions.find(InProcess.PREFIX + InProcess.LOCAL + consumer(shared.live(), shared.rule(), name));
        }
        Session known = unnamed;
        if (known == null || sessions.find(known.id()) != known) {
            known = sessions.all().stream().filter(this::isOwn).findFirst().orElse(null);
            unnamed = known;
        }
        return known;
    }

    /** Whether a session is that of the consumer, which has a name of its own only with a store. */
    private boolean isOwn(Session session) {
        ConsumerPressure pressure = session.pressure();
        return pressure != null && session.isOnline() && pressure.name().equals(consumerLabel());
    }

    private String consumerLabel() {
        return "rule " + label();
    }

    // --- the consumer

    /** Subscribes: from the completion on, messages are queued. Nothing is taken from the queue before {@link #begin}. */
    Mono<Void> open() {
        Messages subscriber = new Messages();
        messages = subscriber;
        MessageFlux<ReceivedMessage> flux = shared.core().broker().receive(shared.filters(), options());
        flux.subscribe(subscriber);
        return flux.ready().doOnSuccess(ready -> subscribed = true);
    }

    private ConsumerOptions options() {
        ConsumerOptions options = ConsumerOptions.DEFAULTS
                .qos(QoS.AT_LEAST_ONCE)
                .retainHandling(ConsumerOptions.RetainHandling.DO_NOT_SEND)
                .localOnly()
                .label(consumerLabel())
                .window(config.inflight() + config.buffer())
                .queue(config.maxQueuedMessages(), config.maxQueuedBytes())
                .overflow(
                        config.full() == RuleActionConfig.Full.DROP
                                ? ConsumerOptions.Overflow.DROP
                                : ConsumerOptions.Overflow.SLOW_PUBLISHERS);
        return shared.stored() ? options.durable(consumer(shared.live(), shared.rule(), name)) : options;
    }

    /** Begins to take messages. */
    void begin() {
        began = true;
        Messages subscriber = messages;
        if (subscriber != null) {
            subscriber.request(config.inflight());
        }
    }

    /** Receives the messages of one subscription. */
    private final class Messages extends BaseSubscriber<ReceivedMessage> {

        @Override
        protected void hookOnSubscribe(org.reactivestreams.Subscription subscription) {
            if (began) {
                request(config.inflight());
            }
        }

        @Override
        protected void hookOnNext(ReceivedMessage message) {
            counts.received.increment();
            String topic = message.message().topic().value();
            shared.threads().execute(topic, worker -> memory.evaluate(worker, message));
        }

        @Override
        protected void hookOnError(Throwable error) {
            subscribed = false;
            if (!stopped) {
                LOG.warn("rule {}: its queue is not available, trying again: {}", label(), error.getMessage());
                Schedulers.parallel()
                        .schedule(
                                RuleAction.this::openAgain,
                                AGAIN.toMillis(),
                                java.util.concurrent.TimeUnit.MILLISECONDS);
            }
        }
    }

    private void openAgain() {
        if (!stopped) {
            open().subscribe(ready -> {}, error -> LOG.debug("rule {}: no queue", label(), error));
        }
    }

    // --- on a rule thread

    private void evaluate(RuleThreads.Worker worker, ReceivedMessage received) {
        if (stopped) {
            counts.left(false, isLost(received));
            return;
        }
        ApplicationMessage message = received.message();
        if (RuleTrail.ends(message, shared.rule())) {
            loops(message);
            finishLater(worker, received);
            return;
        }
        RuleOutcome outcome;
        try {
            RuleInput input = worker.inputs().get(message, () -> input(message));
            outcome = shared.program().evaluate(input, shared.budget());
        } catch (Throwable e) { // such as a stack or a memory that is too small: the message must have an outcome
            LOG.error("rule {}: a statement could not be evaluated", shared.rule(), e);
            outcome = new RuleOutcome.Failed("an internal error");
        }
        if (outcome instanceof RuleOutcome.Rows rows) {
            counts.matched.increment();
            queue(worker, received, rows);
        } else if (outcome instanceof RuleOutcome.Failed failed) {
            counts.matched.increment();
            counts.failed.increment();
            bury(received, "SQL: " + failed.reason());
        } else {
            counts.noResult.increment();
            finishLater(worker, received);
        }
    }

    private RuleInput input(ApplicationMessage message) {
        return RuleSources.isEvent(message)
                ? RuleSources.event(message)
                : new MessageInput(shared.core(), shared.node(), message);
    }

    private void loops(ApplicationMessage message) {
        counts.loops.increment();
        if (LINES.allows(label())) {
            LOG.warn(
                    "rule {}: a message that goes in circles is left out, topic {}",
                    label(),
                    LogText.escape(message.topic().value()));
        }
    }

    /** Adds all rows of a message to its lane, or none: an error, such as of too little memory, must not leave the message without an outcome. */
    private void queue(RuleThreads.Worker worker, ReceivedMessage received, RuleOutcome.Rows outcome) {
        Delivery delivery = null;
        boolean isAdded;
        long bytes = 0;
        try {
            ApplicationMessage message = received.message();
            List<Map<String, @Nullable Object>> rows = outcome.rows();
            delivery = new Delivery(received, rows.size(), bytes(outcome) + message.footprintBytes());
            int spread = RuleThreads.spread(message.topic().value()) >>> 8;
            Lane lane = lanes.get(Math.floorMod(spread, lanes.size()));
            List<Delivery.Item> items = items(rows, message, delivery);
            worker.atEnd(lane.advancing());
            bytes = delivery.bytes();
            memory.add(bytes);
            isAdded = lane.put(items);
        } catch (Throwable e) {
            LOG.error("rule {}: the rows of a message could not be queued", label(), e);
            if (delivery == null || delivery.abandon()) { // the lane may have some of them
                memory.free(bytes);
                bury(received, "an internal error");
            }
            return;
        }
        if (!isAdded) { // the action has ended
            memory.free(bytes);
            counts.left(true, isLost(received));
        }
    }

    private static List<Delivery.Item> items(
            List<Map<String, @Nullable Object>> rows, ApplicationMessage message, Delivery delivery) {
        if (rows.size() == 1) {
            return List.of(new Delivery.Item(new SinkRecord(rows.get(0), message), delivery));
        }
        List<Delivery.Item> items = new ArrayList<>(rows.size());
        for (Map<String, @Nullable Object> row : rows) {
            items.add(new Delivery.Item(new SinkRecord(row, message), delivery));
        }
        return items;
    }

    /** Whether the end of the action loses a message that it has, because no queue on disk has it. */
    private boolean isLost(ReceivedMessage received) {
        return received.qos() == QoS.AT_MOST_ONCE || !shared.stored();
    }

    /** The memory of rows: their values, and the objects that hold these. */
    private static long bytes(RuleOutcome.Rows outcome) {
        long sum = outcome.bytes();
        for (Map<String, @Nullable Object> row : outcome.rows()) {
            sum += ROW_BYTES + COLUMN_BYTES * row.size();
        }
        return sum;
    }

    // --- outcomes of lanes

    @Override
    public void succeeded(List<Delivery.Item> items) {
        long bytes = 0;
        int successes = 0;
        for (Delivery.Item item : items) {
            Delivery delivery = item.delivery();
            if (!delivery.settle()) {
                continue;
            }
            String refusal = delivery.refusal();
            if (refusal == null) {
                bytes += delivery.bytes();
                successes++;
                delivery.message().acknowledge();
            } else {
                giveUp(delivery, refusal);
            }
        }
        if (successes > 0) {
            counts.success.add(successes);
            memory.free(bytes);
            ask(successes);
        }
    }

    /** The next rows are made ready for the sink on a thread of rules, not on the one that has answered: this may be an event loop of clients. */
    @Override
    public void next(Lane lane) {
        shared.threads().advance(lane);
    }

    @Override
    public void refused(Delivery.Item item, String reason) {
        Delivery delivery = item.delivery();
        if (delivery.refuse(reason)) {
            String first = delivery.refusal();
            giveUp(delivery, first == null ? reason : first);
        }
    }

    private void giveUp(Delivery delivery, String refusal) {
        memory.free(delivery.bytes());
        bury(delivery.message(), refusal);
    }

    @Override
    public void failed(String reason, int rows) {
        counts.retried.add(rows);
        lastError = reason;
        failing = true;
        outage.failed(LogText.escape(reason));
    }

    @Override
    public void worked() {
        if (failing) {
            failing = false;
            outage.recovered();
        }
    }

    private void bury(ReceivedMessage received, String reason) {
        if (LINES.allows(label() + " dead letters")) {
            LOG.warn(
                    "rule {}: a message is given up, topic {}: {}",
                    label(),
                    LogText.escape(received.message().topic().value()),
                    LogText.escape(reason));
        }
        shared.deadLetters()
                .keep(name, received.message(), reason)
                .subscribe(kept -> {}, error -> notBuried(received, error), () -> {
                    counts.dead.increment();
                    finish(received);
                });
    }

    /** The rule has ended before the letter was written. */
    private void notBuried(ReceivedMessage received, Throwable error) {
        LOG.debug("rule {}: no dead letter", label(), error);
        counts.left(true, isLost(received));
    }

    private void finish(ReceivedMessage received) {
        received.acknowledge();
        ask(1);
    }

    /** The same, with one demand for all messages that were evaluated together. */
    private void finishLater(RuleThreads.Worker worker, ReceivedMessage received) {
        received.acknowledge();
        owed.incrementAndGet();
        worker.atEnd(asking);
    }

    private void askForOwed() {
        int more = owed.getAndSet(0);
        if (more > 0) {
            ask(more);
        }
    }

    private void ask(int more) {
        Messages subscriber = messages;
        if (subscriber != null && !stopped) {
            subscriber.request(more);
        }
    }

    // --- the end

    /** Ends the action; what is not acknowledged stays in the queue. Blocks for some seconds at most. */
    void close() {
        stopped = true;
        Messages subscriber = messages;
        if (subscriber != null) {
            subscriber.cancel();
        }
        for (Lane lane : lanes) {
            lane.close().stream()
                    .map(Delivery.Item::delivery)
                    .distinct()
                    .filter(Delivery::abandon)
                    .forEach(delivery -> counts.left(true, isLost(delivery.message())));
        }
        memory.close();
        sink.close();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/** Runs a plan: connects and subscribes all clients, sends and measures, waits for the last deliveries, and sums up. Blocks. */
final class LoadRun {

    private static final long POLL_NANOS = 20_000_000L;
    private static final long QUIET_NANOS = 1_000_000_000L;

    private final LoadEngine engine;
    private final Plan plan;
    private final Target target;
    private final Target receiving;
    private final ProcessMeter broker;
    private final ProcessMeter receiver;
    private final LoadSettings settings;
    private final Watch watch;
    private final List<Publisher> publishers = new ArrayList<>();
    private final List<Sample> samples = new ArrayList<>();
    private long[] publishedByStamp = {};
    private long sampledNanos;
    private long sampledPublished;
    private long sampledDelivered;

    LoadRun(LoadEngine engine, Plan plan, Target target, LoadSettings settings, Watch watch) {
        this(engine, plan, target, target, settings, watch);
    }

    /**
     * Creates a run with two brokers.
     *
     * @param target where publishers connect
     * @param receiving where all others connect
     */
    LoadRun(LoadEngine engine, Plan plan, Target target, Target receiving, LoadSettings settings, Watch watch) {
        this.engine = engine;
        this.plan = plan;
        this.target = target;
        this.receiving = receiving;
        this.broker = new ProcessMeter(watch.brokerPid());
        this.receiver = new ProcessMeter(watch.receiverPid());
        this.settings = settings;
        this.watch = watch;
    }

    /**
     * Runs.
     *
     * @param arrivalNanos interval between the starts of two connections
     * @param tolerant whether to continue with the clients that could be connected
     * @throws LoadFailure if clients cannot be connected
     */
    LoadResult run(long arrivalNanos, boolean tolerant) {
        Connections connections = new Connections();
        long begin = System.nanoTime();
        connections.open(arrivalNanos);
        double connectSeconds = (System.nanoTime() - begin) / 1e9;
        requireConnected(connections, tolerant);
        double measured = interrupted() ? 0 : measure();
        boolean interrupted = interrupted();
        drain();
        // After an interruption the remaining messages are unknown.
        FlowTable.Faults faults = faults(!interrupted || plan.publishedBefore().length == 0);
        LoadFigures figures = engine.figures(false);
        engine.onEachLoop(loop -> List.copyOf(loop.clients).forEach(LoadClient::disconnect));
        return new LoadResult(
                plan.name(),
                display(),
                settings,
                plan.clients().size(),
                connections.failedCount(),
                connections.firstFailure(),
                connectSeconds,
                measured,
                figures,
                faults,
                List.copyOf(samples),
                Math.max(0, figures.lastDeliveredNanos - begin) / 1e6,
                extra(figures),
                broker.use(),
                interrupted);
    }

    private String display() {
        return target == receiving ? target.display() : target.display() + " to " + receiving.display();
    }

    /** The connections to the brokers: one, or a second one for clients that only receive, which connect first. */
    private final class Connections {

        private final Connector toReceiver = new Connector(engine, receiving);
        private final Connector toBroker = target == receiving ? toReceiver : new Connector(engine, target);
        private final List<LoadClient> receivers = new ArrayList<>();
        private final List<LoadClient> others = new ArrayList<>();

        Connections() {
            for (ClientSpec spec : plan.clients()) {
                boolean receives = spec.publisher() < 0 && target != receiving;
                LoadClient client = new LoadClient(
                        spec, engine.loopOf(spec), receives ? receiving : target, receives ? toReceiver : toBroker);
                if (spec.publisher() >= 0) {
                    Publisher publisher = publisher(spec, client);
                    client.publishes(publisher);
                    publishers.add(publisher);
                }
                (receives ? receivers : others).add(client);
            }
            begin();
        }

        void open(long arrivalNanos) {
            if (!receivers.isEmpty()) {
                toReceiver.connect(receivers, arrivalNanos, watch);
            }
            if (receivers.isEmpty() || toReceiver.readyCount() > 0 && !interrupted()) {
                toBroker.connect(others, arrivalNanos, watch);
            }
        }

        int failedCount() {
            return toBroker.failedCount() + (toReceiver == toBroker ? 0 : toReceiver.failedCount());
        }

        int readyCount() {
            return toBroker.readyCount() + (toReceiver == toBroker ? 0 : toReceiver.readyCount());
        }

        String firstFailure() {
            return toReceiver.firstFailure().isEmpty() ? toBroker.firstFailure() : toReceiver.firstFailure();
        }

        /** The broker of the first failure. */
        String failing() {
            return (toReceiver.firstFailure().isEmpty() ? target : receiving).display();
        }
    }

    private void begin() {
        publishers.sort(Comparator.comparingInt(publisher -> publisher.number));
        Publisher[] all = publishers.toArray(new Publisher[0]);
        boolean credit = settings.window() > 0 && plan.deliveriesPerMessage() > 0;
        engine.loops().forEach(loop -> loop.publishers(all, credit));
    }

    private Publisher publisher(ClientSpec spec, LoadClient client) {
        int group = 0;
        while (group < plan.groups().size() && !plan.groups().get(group).has(spec.publisher())) {
            group++;
        }
        boolean grouped = !plan.groups().isEmpty();
        LoadSettings own = grouped ? plan.groups().get(group).of(settings) : settings;
        return new Publisher(
                spec.publisher(),
                group,
                spec.publisher() - (grouped ? plan.groups().get(group).first() : 0),
                plan.firstStamp() + spec.stamp(),
                client,
                own,
                TopicTemplates.of(target, spec.topics(), own),
                plan.deliveriesPerMessage());
    }

    private List<PaceSchedule> paces(long start) {
        if (publishers.isEmpty() || settings.perSecond() == 0) {
            return List.of();
        }
        if (plan.groups().isEmpty()) {
            return List.of(new PaceSchedule(start, settings.perSecond(), publishers.size()));
        }
        return plan.groups().stream()
                .map(group -> new PaceSchedule(start, group.perSecond(), group.count()))
                .toList();
    }

    private void requireConnected(Connections connections, boolean tolerant) {
        if (connections.failedCount() > 0 && !interrupted() && (!tolerant || connections.readyCount() == 0)) {
            throw new LoadFailure("cannot connect to " + connections.failing() + ": " + connections.firstFailure()
                    + (connections.readyCount() == 0
                            ? ""
                            : " (" + connections.failedCount() + " of "
                                    + plan.clients().size() + " clients failed)"));
        }
    }

    /** Returns the measured seconds. */
    private double measure() {
        boolean paced = settings.perSecond() > 0 && !publishers.isEmpty();
        // A schedule begins a little later, so that all loops know it by then; a closed loop begins at once.
        long start = System.nanoTime() + (paced ? POLL_NANOS : 0);
        long measureFrom = start + settings.warmUp().toNanos();
        long end = measureFrom + settings.duration().toNanos();
        List<PaceSchedule> paces = paces(start);
        sampledNanos = System.nanoTime();
        engine.onEachLoop(loop -> loop.start(settings, paces, measureFrom, end));
        long stopped = end;
        while (System.nanoTime() - end < 0) {
            long now = System.nanoTime();
            if (now - measureFrom >= 0) {
                broker.begin();
                receiver.begin();
            }
            if (now - sampledNanos >= watch.sampleEvery().toNanos()) {
                sample(start, now);
            }
            if (isDone() || interrupted()) {
                stopped = now;
                break;
            }
            LockSupport.parkNanos(Math.min(POLL_NANOS, Math.max(1, end - now)));
        }
        broker.end();
        receiver.end();
        engine.onEachLoop(LoadLoop::stop);
        sample(start, System.nanoTime());
        return Math.max(0, stopped - measureFrom) / 1e9;
    }

    private boolean interrupted() {
        return watch.interruption().isAsked();
    }

    private boolean isDone() {
        if (settings.limit() == 0) {
            return false;
        }
        if (publishers.isEmpty()) {
            return engine.figures(true).delivered >= settings.limit();
        }
        boolean[] undone = {false};
        for (LoadLoop loop : engine.loops()) {
            loop.executor.submit(() -> undone[0] |= !loop.isDone()).syncUninterruptibly();
        }
        return !undone[0];
    }

    private void sample(long start, long now) {
        LoadFigures figures = engine.figures(true);
        double seconds = (now - sampledNanos) / 1e9;
        Histogram interval = figures.interval;
        boolean none = interval.getTotalCount() == 0;
        Sample sample = new Sample(
                (now - start) / 1e9,
                figures.connected,
                (figures.published - sampledPublished) / seconds,
                (figures.delivered - sampledDelivered) / seconds,
                none ? 0 : interval.getValueAtPercentile(50) / 1e3,
                none ? 0 : interval.getValueAtPercentile(99) / 1e3,
                none ? 0 : interval.getMaxValue() / 1e3);
        sampledNanos = now;
        sampledPublished = figures.published;
        sampledDelivered = figures.delivered;
        samples.add(sample);
        watch.progress().sample(sample);
    }

    /** Waits until all expected messages have arrived, or nothing more arrives. */
    private void drain() {
        if (publishers.isEmpty()) {
            return;
        }
        long end = System.nanoTime() + settings.drain().toNanos();
        long lastReceived = -1;
        long lastChange = System.nanoTime();
        while (System.nanoTime() - end < 0) {
            boolean[] waiting = {false};
            engine.onEachLoop(loop -> {
                if (loop.isWaiting()) {
                    waiting[0] = true;
                }
            });
            LoadFigures figures = engine.figures(true);
            if (!waiting[0] && figures.delivered >= figures.published * plan.deliveriesPerMessage()) {
                return;
            }
            if (figures.receivedBytes != lastReceived) {
                lastReceived = figures.receivedBytes;
                lastChange = System.nanoTime();
            } else if (System.nanoTime() - lastChange > QUIET_NANOS) {
                return;
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
        }
    }

    /** The number of messages of the busiest publisher; call after the run. */
    long mostSent() {
        return publishers.stream().mapToLong(Publisher::sent).max().orElse(0);
    }

    private long publishedBy(int number) {
        long[] before = plan.publishedBefore();
        return number < before.length ? before[number] : publishedByStamp[number];
    }

    private void countByStamp() {
        int stamps = 0;
        for (ClientSpec spec : plan.clients()) {
            stamps = Math.max(stamps, spec.stamp() + spec.topics().size());
        }
        publishedByStamp = new long[stamps];
        for (Publisher publisher : publishers) {
            for (int i = 0; i < publisher.topics(); i++) {
                publishedByStamp[publisher.client.spec.stamp() + i] = publisher.sentTo(i);
            }
        }
    }

    /** Published messages by group, if there are several groups. */
    private Map<String, Double> publishedByGroup() {
        Map<String, Double> counts = new LinkedHashMap<>();
        if (plan.groups().size() > 1) {
            for (Publisher publisher : publishers) {
                String name = plan.groups().get(publisher.group).name() + " published";
                counts.merge(name, (double) publisher.sent(), Double::sum);
            }
        }
        return counts;
    }

    /** Figures of this kind of run: published messages by group, the use of the second broker. */
    private Map<String, Double> extra(LoadFigures figures) {
        Map<String, Double> extra = publishedByGroup();
        ProcessUse use = receiver.use();
        if (use != null) {
            extra.put("receiving broker CPU s", use.cpuSeconds());
            if (figures.measuredDelivered > 0) {
                extra.put("receiving broker us/message", use.cpuSeconds() * 1e6 / figures.measuredDelivered);
            }
            extra.put("receiving broker MiB", use.residentBytes() / 1048576.0);
        }
        return extra;
    }

    /** Counts faults. {@code complete}: missing messages that were published before count as lost. */
    private FlowTable.Faults faults(boolean complete) {
        // The task on all loops makes their writes visible to this thread.
        engine.onEachLoop(loop -> {});
        countByStamp();
        FlowTable.Faults faults = new FlowTable.Faults();
        for (FlowTable table : plan.tables()) {
            table.addTo(faults, this::publishedBy, complete);
        }
        return faults;
    }
}

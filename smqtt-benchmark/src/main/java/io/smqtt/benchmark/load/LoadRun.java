// SPDX-License-Identifier: Apache-2.0
package io.smqtt.benchmark.load;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/** Runs a plan: connect and subscribe all, send and measure, wait for the last deliveries, add up. Blocks its caller. */
final class LoadRun {

    private static final long POLL_NANOS = 20_000_000L;
    private static final long QUIET_NANOS = 1_000_000_000L;

    private final LoadEngine engine;
    private final Plan plan;
    private final Target target;
    private final LoadSettings settings;
    private final Watch watch;
    private final List<Publisher> publishers = new ArrayList<>();
    private final List<Sample> samples = new ArrayList<>();
    private long sampledNanos;
    private long sampledPublished;
    private long sampledDelivered;

    LoadRun(LoadEngine engine, Plan plan, Target target, LoadSettings settings, Watch watch) {
        this.engine = engine;
        this.plan = plan;
        this.target = target;
        this.settings = settings;
        this.watch = watch;
    }

    /**
     * Runs.
     *
     * @param arrivalNanos between the beginnings of two connections
     * @param tolerant whether to go on with the clients that could be connected
     * @throws LoadFailure if clients cannot be connected
     */
    LoadResult run(long arrivalNanos, boolean tolerant) {
        Connector connector = new Connector(engine, target);
        List<LoadClient> clients = clients(connector);
        long begin = System.nanoTime();
        connector.connect(clients, arrivalNanos, watch);
        double connectSeconds = (System.nanoTime() - begin) / 1e9;
        requireConnected(connector, tolerant);
        @Nullable ProcessUse[] use = new ProcessUse[2];
        double measured = interrupted() ? 0 : measure(use);
        boolean interrupted = interrupted();
        drain();
        // Who was interrupted while fetching does not know what would still have come.
        FlowTable.Faults faults = faults(!interrupted || plan.publishedBefore().length == 0);
        LoadFigures figures = engine.figures(false);
        engine.onEachLoop(loop -> List.copyOf(loop.clients).forEach(LoadClient::disconnect));
        return new LoadResult(
                plan.name(),
                target.display(),
                settings,
                plan.clients().size(),
                connector.failedCount(),
                connector.firstFailure(),
                connectSeconds,
                measured,
                figures,
                faults,
                List.copyOf(samples),
                Math.max(0, figures.lastDeliveredNanos - begin) / 1e6,
                Map.of(),
                use[0] == null || use[1] == null ? null : use[1].since(use[0]),
                interrupted);
    }

    private List<LoadClient> clients(LoadClient.SetUp setUp) {
        List<LoadClient> clients = new ArrayList<>();
        for (ClientSpec spec : plan.clients()) {
            LoadClient client = new LoadClient(spec, engine.loopOf(spec), target, setUp);
            if (spec.publisher() >= 0) {
                Publisher publisher = new Publisher(
                        spec.publisher(),
                        plan.firstStamp() + spec.publisher(),
                        client,
                        settings,
                        new PublishTemplate(
                                target.version(),
                                spec.topic(),
                                settings.qos(),
                                settings.retain(),
                                settings.payloadBytes()),
                        plan.deliveriesPerMessage());
                client.publishes(publisher);
                publishers.add(publisher);
            }
            clients.add(client);
        }
        Publisher[] all = publishers.toArray(new Publisher[0]);
        boolean credit = settings.window() > 0 && plan.deliveriesPerMessage() > 0;
        engine.loops().forEach(loop -> loop.publishers(all, credit));
        return clients;
    }

    private void requireConnected(Connector connector, boolean tolerant) {
        if (connector.failedCount() > 0 && !interrupted() && (!tolerant || connector.readyCount() == 0)) {
            throw new LoadFailure("cannot connect to " + target.display() + ": " + connector.firstFailure()
                    + (connector.readyCount() == 0
                            ? ""
                            : " (" + connector.failedCount() + " of "
                                    + plan.clients().size() + " clients failed)"));
        }
    }

    /** Returns how many seconds were measured. */
    private double measure(@Nullable ProcessUse[] use) {
        boolean paced = settings.perSecond() > 0 && !publishers.isEmpty();
        // A schedule begins a little later, so that all loops know it by then; a closed loop begins at once.
        long start = System.nanoTime() + (paced ? POLL_NANOS : 0);
        long measureFrom = start + settings.warmUp().toNanos();
        long end = measureFrom + settings.duration().toNanos();
        PaceSchedule pace = paced ? new PaceSchedule(start, settings.perSecond(), publishers.size()) : null;
        sampledNanos = System.nanoTime();
        engine.onEachLoop(loop -> loop.start(settings, pace, measureFrom, end));
        long stopped = end;
        while (System.nanoTime() - end < 0) {
            long now = System.nanoTime();
            if (use[0] == null && watch.brokerPid() != null && now - measureFrom >= 0) {
                use[0] = ProcessUse.of(watch.brokerPid());
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
        if (watch.brokerPid() != null && use[0] != null) {
            use[1] = ProcessUse.of(watch.brokerPid());
        }
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

    /** Until all that is expected has come, or nothing comes any more. */
    private void drain() {
        if (publishers.isEmpty()) {
            return;
        }
        long end = System.nanoTime() + settings.drain().toNanos();
        long lastDelivered = -1;
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
            if (figures.delivered != lastDelivered) {
                lastDelivered = figures.delivered;
                lastChange = System.nanoTime();
            } else if (System.nanoTime() - lastChange > QUIET_NANOS) {
                return;
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(10));
        }
    }

    /** How many messages the busiest publisher sent; after the run. */
    long mostSent() {
        return publishers.stream().mapToLong(Publisher::sent).max().orElse(0);
    }

    private long publishedBy(int number) {
        long[] before = plan.publishedBefore();
        return number < before.length ? before[number] : publishers.get(number).sent();
    }

    /** {@code complete}: what was published before and is still missing counts as lost. */
    private FlowTable.Faults faults(boolean complete) {
        // The pass over all loops makes what they wrote visible to this thread.
        engine.onEachLoop(loop -> {});
        FlowTable.Faults faults = new FlowTable.Faults();
        for (FlowTable table : plan.tables()) {
            table.addTo(faults, this::publishedBy, complete);
        }
        return faults;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bench;

import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/** The scenarios with several steps, in which a broker stores messages and delivers them later. Blocks. */
final class StoreScenarios {

    private static final long SESSION_EXPIRY_SECONDS = 3600;

    private final ScenarioPlans plans;
    private final Target target;
    private final LoadSettings settings;
    private final int threads;
    private final long arrivalNanos;
    private final Watch watch;
    private long mostSent;

    StoreScenarios(
            ScenarioPlans plans, Target target, LoadSettings settings, int threads, long arrivalNanos, Watch watch) {
        this.plans = plans;
        this.target = target;
        this.settings = settings;
        this.threads = threads;
        this.arrivalNanos = arrivalNanos;
        this.watch = watch;
    }

    /** Stores messages, receives them by one subscriber, deletes them. */
    LoadResult retained(int publishers, int messages) {
        LoadSettings store = step(settings.payloadBytes(), true, messages);
        Map<String, Double> extra = new LinkedHashMap<>();
        LoadResult last = run(plans.retainedStore(publishers), target, store);
        if (!last.interrupted()) {
            extra.put("stored/s", rate(messages, last.measuredSeconds()));
            long[] published = new long[publishers];
            for (int i = 0; i < publishers; i++) {
                published[i] = store.limitOf(i, publishers);
            }
            last = run(plans.retainedFetch(published), target, step(settings.payloadBytes(), false, messages));
        }
        if (!last.interrupted()) {
            extra.put("all fetched after ms", last.lastDeliveredMillis());
        }
        long numbered = Math.min(messages, (long) publishers * mostSent);
        cleanUp(last, plans.retainedStore(publishers), target, step(0, true, Math.max(1, numbered)));
        return last.withExtra(Scenario.RETAINED.toString(), extra);
    }

    /** Sessions subscribe and disconnect, messages are queued for them, they reconnect. */
    LoadResult offline(int sessions, int messagesEach) {
        int messages = Math.multiplyExact(sessions, messagesEach);
        Target kept = target.withSession(false, SESSION_EXPIRY_SECONDS);
        LoadSettings sending = step(settings.payloadBytes(), false, messages);
        LoadSettings nothing = withDuration(step(settings.payloadBytes(), false, 0), Duration.ZERO);
        Map<String, Double> extra = new LinkedHashMap<>();
        LoadResult last = run(plans.offlineSessions(sessions, new long[0]), kept, nothing);
        if (!last.interrupted()) {
            last = run(plans.offlinePublishers(sessions), target, sending);
        }
        if (!last.interrupted()) {
            extra.put("queued/s", rate(messages, last.measuredSeconds()));
            long[] published = new long[sessions];
            Arrays.fill(published, messagesEach);
            last = run(plans.offlineSessions(sessions, published), kept, sending);
        }
        if (!last.interrupted()) {
            extra.put("all resumed after ms", last.lastDeliveredMillis());
        }
        cleanUp(last, plans.offlineSessions(sessions, new long[0]), target.withSession(true, 0), nothing);
        return last.withExtra(Scenario.OFFLINE.toString(), extra);
    }

    /** Deletes everything from the broker, also after an interrupted run; then a failure must not hide the result. */
    private void cleanUp(LoadResult result, Plan plan, Target to, LoadSettings with) {
        Watch apart = new Watch(watch.progress(), watch.brokerPid(), new Interruption(), watch.sampleEvery());
        try (LoadEngine engine = new LoadEngine(threads)) {
            new LoadRun(engine, plan, to, with, apart).run(arrivalNanos, false);
        } catch (LoadFailure e) {
            if (!result.interrupted()) {
                throw e;
            }
        }
    }

    private static double rate(int messages, double seconds) {
        return seconds > 0 ? messages / seconds : 0;
    }

    private LoadSettings step(int payloadBytes, boolean retain, long limit) {
        return new LoadSettings(
                settings.qos(),
                payloadBytes,
                retain,
                settings.userProperties(),
                0,
                0,
                settings.inFlight(),
                limit,
                Duration.ZERO,
                settings.duration(),
                settings.drain());
    }

    private static LoadSettings withDuration(LoadSettings of, Duration duration) {
        return new LoadSettings(
                of.qos(),
                of.payloadBytes(),
                of.retain(),
                of.userProperties(),
                0,
                0,
                of.inFlight(),
                of.limit(),
                Duration.ZERO,
                duration,
                of.drain());
    }

    private LoadResult run(Plan plan, Target to, LoadSettings with) {
        try (LoadEngine engine = new LoadEngine(threads)) {
            LoadRun run = new LoadRun(engine, plan, to, with, watch);
            LoadResult result = run.run(arrivalNanos, false);
            mostSent = Math.max(mostSent, run.mostSent());
            return result;
        }
    }
}

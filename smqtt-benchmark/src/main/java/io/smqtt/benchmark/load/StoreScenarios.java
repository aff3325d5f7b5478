// SPDX-License-Identifier: Apache-2.0
package io.smqtt.benchmark.load;

import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The scenarios of several steps, in which a broker keeps messages and gives them out later. Blocks its caller. */
final class StoreScenarios {

    private static final long SESSION_EXPIRY_SECONDS = 3600;

    private final ScenarioPlans plans;
    private final Target target;
    private final LoadSettings settings;
    private final int threads;
    private final long arrivalNanos;
    private final Progress progress;
    private final @Nullable Long brokerPid;

    StoreScenarios(
            ScenarioPlans plans,
            Target target,
            LoadSettings settings,
            int threads,
            long arrivalNanos,
            Progress progress,
            @Nullable Long brokerPid) {
        this.plans = plans;
        this.target = target;
        this.settings = settings;
        this.threads = threads;
        this.arrivalNanos = arrivalNanos;
        this.progress = progress;
        this.brokerPid = brokerPid;
    }

    /** Stores messages, fetches them by one subscriber, deletes them. */
    LoadResult retained(int publishers, int messages) {
        LoadSettings store = step(settings.payloadBytes(), true, messages);
        LoadResult stored = run(plans.retainedStore(publishers), target, store);
        long[] published = new long[publishers];
        for (int i = 0; i < publishers; i++) {
            published[i] = store.limitOf(i, publishers);
        }
        LoadResult fetched =
                run(plans.retainedFetch(published), target, step(settings.payloadBytes(), false, messages));
        run(plans.retainedStore(publishers), target, step(0, true, messages));
        Map<String, Double> extra = new LinkedHashMap<>();
        extra.put("stored/s", rate(messages, stored.measuredSeconds()));
        extra.put("all fetched after ms", fetched.lastDeliveredMillis());
        return fetched.withExtra(Scenario.RETAINED.toString(), extra);
    }

    /** Sessions subscribe and leave, messages are queued for them, they come back. */
    LoadResult offline(int sessions, int messagesEach) {
        int messages = Math.multiplyExact(sessions, messagesEach);
        Target kept = target.withSession(false, SESSION_EXPIRY_SECONDS);
        LoadSettings nothing = step(settings.payloadBytes(), false, 0);
        run(plans.offlineSessions(sessions, new long[0]), kept, withDuration(nothing, Duration.ZERO));
        LoadResult queued =
                run(plans.offlinePublishers(sessions), target, step(settings.payloadBytes(), false, messages));
        long[] published = new long[sessions];
        Arrays.fill(published, messagesEach);
        LoadResult resumed =
                run(plans.offlineSessions(sessions, published), kept, step(settings.payloadBytes(), false, messages));
        run(
                plans.offlineSessions(sessions, new long[0]),
                target.withSession(true, 0),
                withDuration(nothing, Duration.ZERO));
        Map<String, Double> extra = new LinkedHashMap<>();
        extra.put("queued/s", rate(messages, queued.measuredSeconds()));
        extra.put("all resumed after ms", resumed.lastDeliveredMillis());
        return resumed.withExtra(Scenario.OFFLINE.toString(), extra);
    }

    private static double rate(int messages, double seconds) {
        return seconds > 0 ? messages / seconds : 0;
    }

    private LoadSettings step(int payloadBytes, boolean retain, long limit) {
        return new LoadSettings(
                settings.qos(),
                payloadBytes,
                retain,
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
            return new LoadRun(engine, plan, to, with, progress, brokerPid).run(arrivalNanos, false);
        }
    }
}

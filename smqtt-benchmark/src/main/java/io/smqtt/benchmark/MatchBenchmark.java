// SPDX-License-Identifier: Apache-2.0
package io.smqtt.benchmark;

import io.smqtt.routing.Matches;
import io.smqtt.routing.Subscriber;
import io.smqtt.routing.SubscriptionIndex;
import io.smqtt.topic.TopicFilter;
import io.smqtt.topic.TopicName;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Cost of matching a topic while the index holds many filters. Topics come in turn from a set of 1,024; run with {@code
 * -prof gc} for the bytes that a match allocates, which are none.
 */
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(value = 1, jvmArgsAppend = "-Xmx2g")
@State(Scope.Thread)
public class MatchBenchmark {

    private static final int TOPICS = 1_024;
    private static final int FAN_OUT = 500;

    /** What the index is filled with. */
    @Param
    public FilterKind kind = FilterKind.EXACT;

    /** How many filters. */
    @Param({"1000", "10000", "100000", "1000000"})
    public int filters;

    private final Matches matches = new Matches();
    private final TopicName[] related = new TopicName[TOPICS];
    private final TopicName[] unrelated = new TopicName[TOPICS];
    private final TopicFilter[] more = new TopicFilter[TOPICS];
    private final Subscriber subscriber = new IndexFixture.NamedSubscriber("more");
    private final TopicName fanOut = TopicName.of("bench/fan/out");
    private SubscriptionIndex index = IndexFixture.index(new String[0]);
    private int next;

    /** JMH creates the state. */
    public MatchBenchmark() {}

    /** Fills the index. */
    @Setup
    public void fill() {
        index = IndexFixture.index(IndexFixture.texts(kind, filters));
        for (int i = 0; i < TOPICS; i++) {
            int number = (int) ((long) i * filters / TOPICS);
            related[i] = TopicName.of(kind.relatedTopic(number));
            more[i] = TopicFilter.of(kind.filter(filters + i));
            unrelated[i] = TopicName.of("site/" + i % 7 + "/device/" + i + "/temperature");
        }
        for (int i = 0; i < FAN_OUT; i++) {
            String id = "fan-" + i;
            index.add(IndexFixture.subscription(new IndexFixture.NamedSubscriber(id), fanOut.value()));
        }
    }

    /**
     * A topic that shares its beginning with the filters.
     *
     * @return what matched
     */
    @Benchmark
    public int related() {
        index.match(related[next++ & TOPICS - 1], matches);
        matches.mergeOverlaps("nobody");
        return matches.size();
    }

    /**
     * A topic that no filter has anything to do with.
     *
     * @return what matched: nothing
     */
    @Benchmark
    public int unrelated() {
        index.match(unrelated[next++ & TOPICS - 1], matches);
        matches.mergeOverlaps("nobody");
        return matches.size();
    }

    /**
     * A topic with 500 subscribers.
     *
     * @return what matched
     */
    @Benchmark
    public int fanOutTo500() {
        index.match(fanOut, matches);
        matches.mergeOverlaps("nobody");
        return matches.size();
    }

    /**
     * Subscribing and unsubscribing one more filter of the kind.
     *
     * @return the number of subscriptions
     */
    @Benchmark
    public int addAndRemove() {
        TopicFilter filter = more[next++ & TOPICS - 1];
        index.add(IndexFixture.subscription(subscriber, filter));
        index.remove(subscriber, filter, null);
        return index.size();
    }
}

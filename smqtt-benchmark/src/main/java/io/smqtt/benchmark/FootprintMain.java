// SPDX-License-Identifier: Apache-2.0
package io.smqtt.benchmark;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.Payload;
import io.smqtt.message.PublishProperties;
import io.smqtt.message.QoS;
import io.smqtt.routing.RetainedMessages;
import io.smqtt.routing.SubscriptionIndex;
import io.smqtt.topic.TopicName;
import java.io.PrintStream;
import java.lang.ref.Reference;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * Prints the heap that each filter costs in the subscription index beyond its string (the {@code Subscription} and
 * {@code TopicFilter} objects count), how long adding one takes, and what a retained message costs beyond topic and
 * payload. Arguments: the number of filters, default 1,000,000.
 */
public final class FootprintMain {

    private static final int ROUNDS = 3;

    private FootprintMain() {}

    /**
     * Measures and prints.
     *
     * @param arguments the number of filters
     */
    public static void main(String[] arguments) {
        int count = arguments.length > 0 ? Integer.parseInt(arguments[0]) : 1_000_000;
        for (FilterKind kind : FilterKind.values()) {
            printFilters(System.out, kind, count);
        }
        printRetained(System.out, count);
    }

    private static void printFilters(PrintStream out, FilterKind kind, int count) {
        String[] texts = IndexFixture.texts(kind, count);
        long fastest = Long.MAX_VALUE;
        for (int round = 0; round < ROUNDS; round++) {
            long begin = System.nanoTime();
            IndexFixture.index(texts);
            fastest = Math.min(fastest, System.nanoTime() - begin);
        }
        long before = usedBytes();
        SubscriptionIndex index = IndexFixture.index(texts);
        double bytes = usedBytes() - before;
        out.printf(
                Locale.ROOT,
                "%-12s %,9d filters: %5.1f bytes each, %d ms for all%n",
                kind,
                index.size(),
                bytes / texts.length,
                TimeUnit.NANOSECONDS.toMillis(fastest));
        Reference.reachabilityFence(texts);
    }

    private static void printRetained(PrintStream out, int count) {
        TopicName[] topics = new TopicName[count];
        Payload[] payloads = new Payload[count];
        for (int i = 0; i < count; i++) {
            topics[i] = TopicName.of(FilterKind.EXACT.relatedTopic(i));
            payloads[i] = Payload.of("0123456789");
        }
        long before = usedBytes();
        RetainedMessages retained = new RetainedMessages(count, Long.MAX_VALUE);
        long begin = System.nanoTime();
        for (int i = 0; i < count; i++) {
            retained.store(message(topics[i], payloads[i]));
        }
        long nanos = System.nanoTime() - begin;
        double bytes = usedBytes() - before;
        out.printf(
                Locale.ROOT,
                "%-12s %,9d messages: %4.1f bytes each, %d ms for all%n",
                "retained",
                retained.count(),
                bytes / topics.length,
                TimeUnit.NANOSECONDS.toMillis(nanos));
        Reference.reachabilityFence(topics);
        Reference.reachabilityFence(payloads);
    }

    private static ApplicationMessage message(TopicName topic, Payload payload) {
        return new ApplicationMessage(
                ApplicationMessage.NO_ID,
                topic,
                payload,
                QoS.AT_LEAST_ONCE,
                true,
                PublishProperties.EMPTY,
                ApplicationMessage.NEVER,
                0,
                null);
    }

    private static long usedBytes() {
        for (int i = 0; i < 4; i++) {
            System.gc();
        }
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.kafka;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.jspecify.annotations.Nullable;

/** Asks a cluster whether it is there, and has topics. */
final class ClusterProbe {

    private static final Duration CLOSE = Duration.ofMillis(100);

    private ClusterProbe() {}

    /**
     * Asks the cluster. Blocks.
     *
     * @param topics names of topics; without any the cluster is asked for its nodes
     * @param millis the maximum time
     * @throws RuntimeException if the cluster does not answer, refuses, or does not have a topic; its message is for operators
     */
    static void ask(KafkaConnection connection, List<String> topics, int millis) {
        long beganNanos = System.nanoTime();
        Map<String, Object> properties = new HashMap<>(connection.properties());
        properties.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, millis);
        properties.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, millis);
        Admin admin = KafkaThread.withOwnClasses(() -> Admin.create(properties));
        try {
            long left = millis - TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - beganNanos) - CLOSE.toMillis();
            if (topics.isEmpty()) {
                admin.describeCluster().nodes().get(left, TimeUnit.MILLISECONDS);
            } else {
                admin.describeTopics(topics).allTopicNames().get(left, TimeUnit.MILLISECONDS);
            }
        } catch (ExecutionException e) {
            throw failure(e.getCause(), topics, millis);
        } catch (TimeoutException e) {
            throw failure(new org.apache.kafka.common.errors.TimeoutException(), topics, millis);
        } catch (InterruptedException e) {
            throw new InterruptException(e); // sets the flag again
        } finally {
            admin.close(CLOSE);
        }
    }

    private static RuntimeException failure(@Nullable Throwable cause, List<String> topics, int millis) {
        if (cause instanceof UnknownTopicOrPartitionException) {
            return new UnknownTopicOrPartitionException("the cluster has no topic " + String.join(" or no ", topics));
        }
        if (cause instanceof org.apache.kafka.common.errors.TimeoutException) {
            return new org.apache.kafka.common.errors.TimeoutException(
                    "no broker of the cluster has answered within " + millis + " ms");
        }
        return cause instanceof RuntimeException known ? known : new IllegalStateException(cause);
    }
}

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
        Map<String, Object> properties = new HashMap<>(connection.properties());
        properties.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, millis);
        properties.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, millis);
        Admin admin = KafkaThread.withOwnClasses(() -> Admin.create(properties));
        try {
            if (topics.isEmpty()) {
                admin.describeCluster().nodes().get(millis, TimeUnit.MILLISECONDS);
            } else {
                admin.describeTopics(topics).allTopicNames().get(millis, TimeUnit.MILLISECONDS);
            }
        } catch (ExecutionException e) {
            throw e.getCause() instanceof UnknownTopicOrPartitionException
                    ? new UnknownTopicOrPartitionException("the cluster has no topic " + String.join(" or no ", topics))
                    : e.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(e.getCause());
        } catch (TimeoutException e) {
            throw new org.apache.kafka.common.errors.TimeoutException("no answer within " + millis + " ms");
        } catch (InterruptedException e) {
            throw new InterruptException(e); // sets the flag again
        } finally {
            admin.close(CLOSE);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.redis;

import io.smqtt.config.SourceConfig;
import io.smqtt.rules.sink.SinkSettings;
import io.smqtt.rules.sink.SourceContext;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

/**
 * What a source reads, and as whom.
 *
 * @param stream the key of the stream
 * @param group the consumer group
 * @param consumer the name in the group
 * @param fromBegin whether a new group begins with the first entry
 * @param claimAfter how long an entry of another consumer is left to it
 */
record StreamPlace(String stream, String group, String consumer, boolean fromBegin, Duration claimAfter) {

    /** Reads the keys of a source. Blocks, while the name of the host is looked up. */
    static StreamPlace of(SourceContext context) {
        SinkSettings settings = context.settings();
        String name = settings.textOrNull(RedisSourceFactory.CONSUMER);
        return new StreamPlace(
                settings.text(RedisSourceFactory.STREAM),
                settings.text(RedisSourceFactory.GROUP),
                name == null ? consumer(context.config().nodes()) : name,
                settings.text(RedisSourceFactory.START).equals("earliest"),
                settings.duration(RedisSourceFactory.CLAIM));
    }

    /** With one node at a time the next one goes on with what the former one had. */
    private static String consumer(SourceConfig.Nodes nodes) {
        if (nodes == SourceConfig.Nodes.ONE) {
            return "smqtt";
        }
        try {
            return "smqtt-" + InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            return "smqtt";
        }
    }

    /** The bytes of a name. */
    static byte[] bytes(String name) {
        return name.getBytes(StandardCharsets.UTF_8);
    }
}

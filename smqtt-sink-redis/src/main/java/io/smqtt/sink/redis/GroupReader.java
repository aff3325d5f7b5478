// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.redis;

import io.lettuce.core.Consumer;
import io.lettuce.core.StreamMessage;
import io.lettuce.core.XAutoClaimArgs;
import io.lettuce.core.XGroupCreateArgs;
import io.lettuce.core.XReadArgs;
import io.lettuce.core.XReadArgs.StreamOffset;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.async.RedisStreamAsyncCommands;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.models.stream.ClaimedMessages;
import io.smqtt.rules.sink.SinkException;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** The commands of a member of a consumer group. Each blocks until it has its answer. For one thread. */
final class GroupReader {

    private static final Duration WAIT = Duration.ofMillis(100);
    private static final Duration ANSWER = Duration.ofSeconds(5);
    private static final String HISTORY = "0-0";

    private final RedisConnection connection;
    private final StreamPlace place;
    private final byte[] stream;
    private final byte[] group;
    private final Consumer<byte[]> consumer;
    private String claimCursor = HISTORY;

    GroupReader(RedisConnection connection, StreamPlace place) {
        this.connection = connection;
        this.place = place;
        this.stream = StreamPlace.bytes(place.stream());
        this.group = StreamPlace.bytes(place.group());
        this.consumer = Consumer.from(group, StreamPlace.bytes(place.consumer()));
    }

    /**
     * Makes the group, and the stream, if they are not there.
     *
     * @throws SinkException if Redis does not answer or refuses, as all other methods
     */
    void createGroup() {
        call(commands -> commands.xgroupCreate(
                        StreamOffset.from(stream, place.fromBegin() ? HISTORY : "$"),
                        group,
                        XGroupCreateArgs.Builder.mkstream())
                .exceptionally(error -> {
                    if (String.valueOf(error.getMessage()).startsWith("BUSYGROUP")) {
                        return "OK"; // it is there
                    }
                    throw new CompletionException(error);
                }));
    }

    /** Reads entries that this consumer has read before and not acknowledged, behind an identifier. */
    List<StreamMessage<byte[], byte[]>> pending(@Nullable String behind, int most) {
        return read(StreamOffset.from(stream, behind == null ? HISTORY : behind), XReadArgs.Builder.count(most));
    }

    /** Reads entries that no consumer has read yet. Waits for the first for some time. */
    List<StreamMessage<byte[], byte[]>> next(int most) {
        return read(
                StreamOffset.lastConsumed(stream), XReadArgs.Builder.count(most).block(WAIT));
    }

    @SuppressWarnings("unchecked") // of an array of one
    private List<StreamMessage<byte[], byte[]>> read(StreamOffset<byte[]> from, XReadArgs how) {
        List<StreamMessage<byte[], byte[]>> found = call(commands -> commands.xreadgroup(consumer, how, from));
        return found == null ? List.of() : found;
    }

    /** Takes over some entries that others have read and not acknowledged for long; the next call goes on behind them. */
    List<StreamMessage<byte[], byte[]>> claim(int most) {
        ClaimedMessages<byte[], byte[]> claimed = call(commands -> commands.xautoclaim(
                stream,
                XAutoClaimArgs.Builder.<byte[]>xautoclaim(consumer, place.claimAfter(), claimCursor)
                        .count(most)));
        if (claimed == null) {
            return List.of();
        }
        claimCursor = claimed.getId();
        return claimed.getMessages();
    }

    /** The entries that no consumer of the group has read yet; empty if Redis does not know it, as for a while behind deleted entries, and before version 7.0. */
    OptionalLong lag() {
        List<Object> groups = call(commands -> commands.xinfoGroups(stream));
        long lag = groups == null ? -1 : GroupLag.of(groups, group);
        return lag < 0 ? OptionalLong.empty() : OptionalLong.of(lag);
    }

    /** Acknowledges entries. */
    void acknowledge(List<String> ids) {
        call(commands -> commands.xack(stream, group, ids.toArray(String[]::new)));
    }

    private <T> @Nullable T call(Function<RedisStreamAsyncCommands<byte[], byte[]>, CompletionStage<T>> command) {
        try {
            return connection
                    .use(open -> Mono.fromFuture(command.apply(commands(open)).toCompletableFuture(), true))
                    .block(ANSWER);
        } catch (RuntimeException e) {
            throw new SinkException(RedisFailure.of(e).reason(), true);
        }
    }

    private static RedisStreamAsyncCommands<byte[], byte[]> commands(StatefulConnection<byte[], byte[]> connection) {
        if (connection instanceof StatefulRedisClusterConnection<byte[], byte[]> cluster) {
            return cluster.async();
        }
        return ((StatefulRedisConnection<byte[], byte[]>) connection).async();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.routing.EarlierDeliveries;
import io.smqtt.spi.PeerQueries;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.SharedFilter;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.function.BiPredicate;
import java.util.function.Consumer;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * Asks the other nodes whether a member of a shared group has taken a QoS 2 message. Only for messages that publishers send again, see
 * {@link EarlierDeliveries}.
 */
@AnyThread
final class GroupDeliveries implements EarlierDeliveries {

    private static final String QUESTION = "group-delivery";
    private static final Duration DEADLINE = Duration.ofSeconds(5);
    private static final Duration PAUSE = Duration.ofMillis(500);
    private static final int AGAIN = 2;
    private static final byte[] YES = {1};
    private static final byte[] NO = {0};

    private final PeerQueries questions;
    private final Consumer<Consumer<List<String>>> nodes;
    private final Consumer<Runnable> afterDelivered;
    private final BiPredicate<Long, SharedFilter> hasTaken;

    /**
     * Creates it.
     *
     * @param nodes passes on the names of the other nodes that are reachable
     * @param afterDelivered runs a task when sessions have what was routed here up to now
     * @param hasTaken whether a member on this node has taken the message with an identifier, see {@link io.smqtt.session.SessionRegistry#hasTaken}
     */
    GroupDeliveries(
            PeerQueries questions,
            Consumer<Consumer<List<String>>> nodes,
            Consumer<Runnable> afterDelivered,
            BiPredicate<Long, SharedFilter> hasTaken) {
        this.questions = questions;
        this.nodes = nodes;
        this.afterDelivered = afterDelivered;
        this.hasTaken = hasTaken;
    }

    /** Begins to answer the questions of other nodes. Once. */
    void answer() {
        questions.answer(QUESTION, question -> {
            ByteBuffer source = ByteBuffer.wrap(question);
            if (source.remaining() <= Long.BYTES) {
                return Mono.empty();
            }
            long messageId = source.getLong();
            SharedFilter group = SharedFilter.of(
                    StandardCharsets.UTF_8.decode(source.slice()).toString());
            return here(messageId, group).map(taken -> taken ? YES : NO);
        });
    }

    private Mono<Boolean> here(long messageId, SharedFilter group) {
        return Mono.create(sink -> afterDelivered.accept(() -> sink.success(hasTaken.test(messageId, group))));
    }

    @Override
    public void find(ApplicationMessage message, SharedFilter group, Consumer<Boolean> answer) {
        byte[] name = group.toString().getBytes(StandardCharsets.UTF_8);
        byte[] question = ByteBuffer.allocate(Long.BYTES + name.length)
                .putLong(message.id())
                .put(name)
                .array();
        nodes.accept(all -> Flux.concat(
                        here(message.id(), group), Flux.fromIterable(all).flatMap(node -> ask(node, question)))
                .any(taken -> taken)
                .subscribe(answer));
    }

    /** A node that does not answer is of an earlier version, or has failed: another one has its sessions then, or none. */
    private Mono<Boolean> ask(String node, byte[] question) {
        return Mono.defer(() -> questions.ask(node, QUESTION, question, DEADLINE))
                .map(GroupDeliveries::isYes)
                .retryWhen(Retry.fixedDelay(AGAIN, PAUSE))
                .onErrorReturn(false);
    }

    private static boolean isYes(byte[] answer) {
        return answer.length == 1 && answer[0] == YES[0];
    }
}

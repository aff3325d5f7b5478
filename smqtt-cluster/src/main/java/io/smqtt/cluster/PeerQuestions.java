// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.spi.ClusterTransport.Peer;
import io.smqtt.spi.PeerQueries;
import io.smqtt.thread.AnyThread;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * Questions to other nodes, and the answers to theirs. An answer travels in parts, each a bulk frame. Numbers and sizes of what is in
 * progress are bounded on both sides; beyond that questions are refused here, and not answered there.
 */
@OnClusterLoop
final class PeerQuestions implements PeerQueries {

    private static final Logger LOG = LoggerFactory.getLogger(PeerQuestions.class);

    /** Size of a part of an answer. */
    static final int PART_BYTES = 256 << 10;

    /** Maximum number of questions of this node that wait for their answer. */
    static final int MOST_ASKED = 256;

    /** Maximum number of questions of other nodes that are being answered. */
    static final int MOST_ANSWERED = 256;

    /** Maximum number of bytes of answers of which parts are missing. */
    static final long MAX_COLLECTED_BYTES = 64L << 20;

    private static final int MAX_NAME = 64;
    private static final long AGAIN_MILLIS = 5;

    /** After this many attempts an answer is given up, because no bulk frame leaves. */
    private static final int ATTEMPTS = 400;

    private final Map<String, Function<byte[], Mono<byte[]>>> answers = new ConcurrentHashMap<>();
    private volatile @Nullable Wire wire;

    // on the cluster's loop
    private final Map<Long, Asked> asked = new HashMap<>();
    private long number;
    private long collectedBytes;
    private int answering;

    PeerQuestions() {}

    /**
     * The parts of the node that carry frames.
     *
     * @param frames sends frames
     * @param membership the other nodes
     * @param tasks the cluster's loop
     */
    private record Wire(FrameSender frames, Membership membership, LoopTasks tasks) {}

    /** A question that waits for its answer. */
    private static final class Asked {

        private final String node;
        private final MonoSink<byte[]> sink;
        private final ByteArrayOutputStream collected = new ByteArrayOutputStream();
        private int next;

        Asked(String node, MonoSink<byte[]> sink) {
            this.node = node;
            this.sink = sink;
        }
    }

    /** Begins to carry questions. Before the node starts. */
    @AnyThread
    void attach(FrameSender frames, Membership membership, LoopTasks tasks) {
        wire = new Wire(frames, membership, tasks);
    }

    @Override
    @AnyThread
    public void answer(String name, Function<byte[], Mono<byte[]>> made) {
        if (name.isEmpty() || name.length() > MAX_NAME) {
            throw new IllegalArgumentException("the name must have 1 to " + MAX_NAME + " characters");
        }
        if (answers.putIfAbsent(name, made) != null) {
            throw new IllegalStateException("questions " + name + " have an answer already");
        }
    }

    @Override
    @AnyThread
    public Mono<byte[]> ask(String node, String name, byte[] question, Duration deadline) {
        Wire now = wire;
        if (now == null || question.length > MAX_QUESTION_BYTES) {
            return Mono.error(
                    new IllegalStateException(now == null ? "the cluster does not run" : "the question is too large"));
        }
        return Mono.<byte[]>create(sink -> {
                    if (!now.tasks.execute(() -> send(now, node, name, question, sink))) {
                        sink.error(new IllegalStateException("the cluster has ended"));
                    }
                })
                .timeout(deadline);
    }

    private void send(Wire now, String node, String name, byte[] question, MonoSink<byte[]> sink) {
        Member named = now.membership.named(node);
        Member member = named == null ? now.membership.find(node) : named;
        Peer peer = member == null ? null : member.peer();
        if (member == null || peer == null || !member.isReachable() || !member.answersQuestions()) {
            sink.error(new IllegalStateException(node + " cannot be asked"));
            return;
        }
        if (asked.size() >= MOST_ASKED) {
            sink.error(new IllegalStateException("too many questions wait"));
            return;
        }
        long mine = ++number;
        asked.put(mine, new Asked(member.nodeId(), sink));
        sink.onDispose(() -> now.tasks.execute(() -> forget(mine)));
        if (!now.frames.sendBulk(peer, new Frame.Question(mine, name, question))) {
            sink.error(new IllegalStateException("too much waits for " + node));
        }
    }

    private @Nullable Asked forget(long mine) {
        Asked removed = asked.remove(mine);
        if (removed != null) {
            collectedBytes -= removed.collected.size();
        }
        return removed;
    }

    /** Handles a frame of a member. */
    void accept(Member member, Frame.Talk frame) {
        Wire now = wire;
        if (now == null) {
            return;
        }
        if (frame instanceof Frame.Question question) {
            answer(now, member, question);
        } else if (frame instanceof Frame.AnswerPart part
                && part.ofEpoch() == now.frames.self().epoch()) {
            collect(member, part);
        }
    }

    private void collect(Member member, Frame.AnswerPart part) {
        Asked waiting = asked.get(part.number());
        if (waiting == null || !waiting.node.equals(member.nodeId()) || waiting.next != part.index()) {
            return;
        }
        boolean fits = collectedBytes + part.bytes().length <= MAX_COLLECTED_BYTES
                && waiting.collected.size() + part.bytes().length <= MAX_ANSWER_BYTES;
        if (!fits) {
            waiting.sink.error(new IllegalStateException("the answer is too large"));
            return;
        }
        waiting.collected.writeBytes(part.bytes());
        collectedBytes += part.bytes().length;
        waiting.next++;
        if (waiting.next == part.parts()) {
            waiting.sink.success(waiting.collected.toByteArray());
        }
    }

    private void answer(Wire now, Member member, Frame.Question question) {
        Function<byte[], Mono<byte[]>> made = answers.get(question.name());
        if (made == null || answering >= MOST_ANSWERED || question.bytes().length > MAX_QUESTION_BYTES) {
            return; // the other node waits until its deadline
        }
        answering++;
        long epoch = member.epoch();
        Mono.defer(() -> made.apply(question.bytes()))
                .doFinally(signal -> now.tasks.execute(() -> answering--))
                .subscribe(
                        answer -> now.tasks.execute(
                                () -> send(now, member, epoch, question.number(), answer, 0, ATTEMPTS)),
                        error -> LOG.debug("a question of {} has no answer", member.nodeId(), error));
    }

    /** Sends the parts from an index on, as the transport has room. */
    private static void send(Wire now, Member member, long epoch, long number, byte[] answer, int from, int attempts) {
        Peer peer = member.peer();
        if (peer == null || member.epoch() != epoch || answer.length > MAX_ANSWER_BYTES) {
            return;
        }
        int parts = Math.max(1, (answer.length + PART_BYTES - 1) / PART_BYTES);
        for (int index = from; index < parts; index++) {
            int begin = index * PART_BYTES;
            byte[] part = Arrays.copyOfRange(answer, begin, Math.min(answer.length, begin + PART_BYTES));
            if (!now.frames.sendBulk(peer, new Frame.AnswerPart(number, epoch, index, parts, part))) {
                int again = index;
                if (attempts > 0) {
                    now.tasks.schedule(
                            () -> send(now, member, epoch, number, answer, again, attempts - 1),
                            AGAIN_MILLIS,
                            TimeUnit.MILLISECONDS);
                }
                return;
            }
        }
    }
}

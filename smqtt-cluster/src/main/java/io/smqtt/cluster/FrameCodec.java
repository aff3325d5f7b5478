// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.bytes.ByteReader;
import io.smqtt.bytes.ByteWriter;
import io.smqtt.bytes.MalformedBytesException;
import io.smqtt.bytes.MessageBytes;
import io.smqtt.bytes.NameCache;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.spi.RetainedVersion;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.InvalidTopicException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Encodes and decodes frames: version (1 byte), type (1 byte), remaining length (4 bytes), then the sender's node-id and epoch, then the
 * fields of the type. Additional bytes of later versions are skipped, and so are unknown types. A frame of another version is not read at
 * all.
 */
@AnyThread
final class FrameCodec {

    private static final int HEADER_BYTES = 6;
    private static final int MAXIMUM_NODE_ID = 255;
    private static final int HELLO = 1;
    private static final int DELTA = 2;
    private static final int DIGEST = 3;
    private static final int PULL = 4;
    private static final int SNAPSHOT = 5;
    private static final int STALE = 6;
    private static final int MORE = 7;
    private static final int TAKEN = 8;
    private static final int PUBLISH_BATCH = 16;
    private static final int PUBLISH_ACK = 17;

    private static final int RETAINED_UPDATE = 24;
    private static final int RETAINED_DIGEST = 25;
    private static final int RETAINED_VERSIONS = 26;
    private static final int RETAINED_PULL = 27;
    private static final int RETAINED_COMPARED = 28;
    private static final int CLOCKS = 29;
    private static final int RETAINED_KNOWN = 30;
    private static final int RETAINED_ASK = 31;

    /** In the year 4200; a node continues from the latest clock that it has seen. */
    static final long LAST_CLOCK = 1L << 62;

    private static final List<RetainedRow.Kind> ROW_KINDS = List.of(RetainedRow.Kind.values());

    private static final int GROUP_CALL = 48;
    private static final int QUESTION = 56;
    private static final int ANSWER_PART = 57;

    private FrameCodec() {}

    /**
     * A frame that was received.
     *
     * @param sender its sender
     * @param frame the frame; null for an unknown type
     */
    record Received(NodeIdentity sender, @Nullable Frame frame) {}

    /**
     * Encodes a frame.
     *
     * @param nowNanos the broker's monotonic clock, for the remaining expiry intervals
     */
    static byte[] encode(NodeIdentity sender, Frame frame, long nowNanos) {
        ByteWriter target = new ByteWriter(expectedBytes(frame));
        target.u8(Frame.VERSION).u8(type(frame)).i32(0);
        target.text(sender.nodeId()).i64(sender.epoch());
        body(target, frame, nowNanos);
        target.putInt(2, target.size() - HEADER_BYTES);
        return target.toByteArray();
    }

    /** Estimates the size of a frame, because a growing array is copied repeatedly. */
    private static int expectedBytes(Frame frame) {
        int bytes = 256;
        if (frame instanceof Frame.PublishBatch batch) {
            for (ForwardedMessage forwarded : batch.messages()) {
                bytes += forwarded.message().payload().size()
                        + forwarded.message().topic().utf8().length
                        + 48;
            }
        } else if (frame instanceof Frame.Question question) {
            bytes += question.bytes().length;
        } else if (frame instanceof Frame.AnswerPart part) {
            bytes += part.bytes().length;
        } else if (frame instanceof Frame.OutboundBatch batch) {
            for (Outbound part : batch.parts()) {
                bytes += part.bytes();
            }
        }
        return bytes;
    }

    private static int type(Frame frame) {
        if (frame instanceof Frame.Client client) {
            return ClientCodec.type(client);
        } else if (frame instanceof Frame.Hello) {
            return HELLO;
        } else if (frame instanceof Frame.Delta) {
            return DELTA;
        } else if (frame instanceof Frame.Digest) {
            return DIGEST;
        } else if (frame instanceof Frame.Pull) {
            return PULL;
        } else if (frame instanceof Frame.Snapshot) {
            return SNAPSHOT;
        } else if (frame instanceof Frame.Stale) {
            return STALE;
        } else if (frame instanceof Frame.More) {
            return MORE;
        } else if (frame instanceof Frame.Taken) {
            return TAKEN;
        } else if (frame instanceof Frame.PublishBatch || frame instanceof Frame.OutboundBatch) {
            return PUBLISH_BATCH;
        } else if (frame instanceof Frame.RetainedUpdate) {
            return RETAINED_UPDATE;
        } else if (frame instanceof Frame.RetainedDigest) {
            return RETAINED_DIGEST;
        } else if (frame instanceof Frame.RetainedVersions) {
            return RETAINED_VERSIONS;
        } else if (frame instanceof Frame.RetainedPull) {
            return RETAINED_PULL;
        } else if (frame instanceof Frame.RetainedCompared) {
            return RETAINED_COMPARED;
        } else if (frame instanceof Frame.Clocks) {
            return CLOCKS;
        } else if (frame instanceof Frame.RetainedKnown) {
            return RETAINED_KNOWN;
        } else if (frame instanceof Frame.RetainedAsk) {
            return RETAINED_ASK;
        } else if (frame instanceof Frame.GroupCall) {
            return GROUP_CALL;
        } else if (frame instanceof Frame.Question) {
            return QUESTION;
        } else if (frame instanceof Frame.AnswerPart) {
            return ANSWER_PART;
        }
        return PUBLISH_ACK;
    }

    private static void body(ByteWriter target, Frame frame, long nowNanos) {
        if (frame instanceof Frame.Client client) {
            ClientCodec.write(target, client, nowNanos);
        } else if (frame instanceof Frame.Hello hello) {
            target.u8(hello.minVersion()).u8(hello.maxVersion()).i64(hello.features());
            target.text(hello.software()).u8(hello.reply() ? 1 : 0);
            target.number(hello.weight()).text(hello.address());
            if (!hello.relay().isEmpty() || !hello.name().isEmpty()) {
                target.text(hello.relay());
            }
            if (!hello.name().isEmpty()) {
                target.text(hello.name());
            }
        } else if (frame instanceof Frame.Delta delta) {
            target.number(delta.firstSequence());
            rows(target, delta.rows());
        } else if (frame instanceof Frame.Digest digest) {
            target.number(digest.sequence()).number(digest.count()).i64(digest.hash());
        } else if (frame instanceof Frame.Pull pull) {
            target.i64(pull.ofEpoch()).i64(pull.haveSequence());
        } else if (frame instanceof Frame.Snapshot snapshot) {
            target.number(snapshot.number())
                    .number(snapshot.sequence())
                    .number(snapshot.index())
                    .number(snapshot.parts());
            rows(target, snapshot.rows());
        } else if (frame instanceof Frame.Stale stale) {
            target.i64(stale.knownEpoch());
        } else if (frame instanceof Frame.Taken taken) {
            target.i64(taken.epoch()).text(taken.address());
        } else if (frame instanceof Frame.More more) {
            target.i64(more.ofEpoch()).i64(more.haveSequence());
            target.number(more.number()).number(more.part()).u8(more.again() ? 1 : 0);
        } else if (frame instanceof Frame.PublishBatch batch) {
            target.i64(batch.toEpoch()).i32(batch.stream()).number(batch.base()).number(batch.firstSequence());
            messages(target, batch.messages(), nowNanos);
            parked(target, batch.parked(), batch.homes());
        } else if (frame instanceof Frame.OutboundBatch batch) {
            target.i64(batch.toEpoch()).i32(batch.stream()).number(batch.base()).number(batch.firstSequence());
            target.number(batch.count());
            batch.parts().forEach(part -> part.writeTo(target, nowNanos));
            parked(target, batch.parked(), batch.homes());
        } else if (frame instanceof Frame.PublishAck ack) {
            target.i64(ack.ofEpoch()).i32(ack.stream()).number(ack.received()).number(ack.upTo());
            target.number(ack.refusals().size());
            ack.refusals().forEach(refusal -> target.number(refusal.sequence()).text(refusal.group()));
        } else if (frame instanceof Frame.GroupCall call) {
            target.u8(call.wants() ? 1 : 0).number(call.groups().size());
            call.groups().forEach(target::text);
        } else {
            retained(target, frame, nowNanos);
        }
    }

    private static void retained(ByteWriter target, Frame frame, long nowNanos) {
        if (frame instanceof Frame.RetainedUpdate update) {
            target.number(update.rows().size());
            update.rows().forEach(row -> row(target, row, nowNanos));
            numberIfAny(target, update.number());
        } else if (frame instanceof Frame.RetainedDigest digest) {
            target.number(digest.hashes().length);
            for (long hash : digest.hashes()) {
                target.i64(hash);
            }
            numberIfAny(target, digest.answers());
        } else if (frame instanceof Frame.RetainedKnown known) {
            target.i64(known.ofEpoch()).number(known.number());
        } else if (frame instanceof Frame.RetainedAsk ask) {
            target.number(ask.number());
        } else if (frame instanceof Frame.RetainedVersions all) {
            target.number(all.part()).number(all.topics().size());
            for (int i = 0; i < all.topics().size(); i++) {
                version(target.text(all.topics().get(i)), all.versions().get(i));
            }
        } else if (frame instanceof Frame.RetainedPull pull) {
            target.number(pull.topics().size());
            pull.topics().forEach(target::text);
        } else if (frame instanceof Frame.RetainedCompared compared) {
            target.number(compared.part()).number(compared.missing());
        } else if (frame instanceof Frame.Clocks clocks) {
            target.i64(clocks.wallMillis()).i64(clocks.latest());
        } else if (frame instanceof Frame.Question question) {
            target.number(question.number()).text(question.name()).block(question.bytes());
        } else if (frame instanceof Frame.AnswerPart part) {
            target.number(part.number())
                    .i64(part.ofEpoch())
                    .number(part.index())
                    .number(part.parts());
            target.block(part.bytes());
        }
    }

    private static void numberIfAny(ByteWriter target, long number) {
        if (number != 0) {
            target.number(number);
        }
    }

    private static long numberIfAny(ByteReader source) {
        return source.remaining() > 0 ? sequence(source) : 0;
    }

    private static void row(ByteWriter target, RetainedRow row, long nowNanos) {
        version(target.u8(row.kind().ordinal()), row.version());
        ApplicationMessage message = row.message();
        if (message == null) {
            target.text(row.topic());
        } else {
            ForwardedMessage.writeBlock(target, message, false, List.of(), nowNanos);
        }
    }

    private static void version(ByteWriter target, RetainedVersion version) {
        target.i64(version.clock()).text(version.nodeId());
    }

    private static RetainedVersion version(ByteReader source, NameCache names) {
        return new RetainedVersion(clock(source), source.text(names));
    }

    private static long wallClock(ByteReader source) {
        long millis = source.i64();
        if (millis < 0 || millis > RetainedVersion.millisOf(LAST_CLOCK)) {
            throw new MalformedBytesException("a time is out of range");
        }
        return millis;
    }

    private static long clock(ByteReader source) {
        long clock = source.i64();
        if (clock < 0 || clock > LAST_CLOCK) {
            throw new MalformedBytesException("a clock is out of range");
        }
        return clock;
    }

    private static Frame retainedUpdate(ByteReader source, long nowNanos, NameCache names) {
        int count = source.count(11);
        List<RetainedRow> rows = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            rows.add(retainedRow(source, nowNanos, names));
        }
        return new Frame.RetainedUpdate(rows, numberIfAny(source));
    }

    private static RetainedRow retainedRow(ByteReader source, long nowNanos, NameCache names) {
        int kind = source.u8();
        if (kind >= ROW_KINDS.size()) {
            throw new MalformedBytesException("unknown kind of row");
        }
        RetainedVersion version = version(source, names);
        if (ROW_KINDS.get(kind) == RetainedRow.Kind.MESSAGE) {
            return RetainedRow.of(
                    version,
                    ForwardedMessage.read(source.part(), nowNanos, names).message());
        }
        try {
            return new RetainedRow(ROW_KINDS.get(kind), source.topic(names).value(), version, null);
        } catch (InvalidTopicException e) {
            throw new MalformedBytesException("a topic is not well-formed");
        }
    }

    private static Frame retainedCompared(ByteReader source) {
        return new Frame.RetainedCompared(source.number(RetainedEntries.PARTS - 1), source.number(Integer.MAX_VALUE));
    }

    private static Frame retainedDigest(ByteReader source) {
        long[] hashes = new long[source.count(8)];
        for (int i = 0; i < hashes.length; i++) {
            hashes[i] = source.i64();
        }
        return new Frame.RetainedDigest(hashes, numberIfAny(source));
    }

    private static Frame retainedVersions(ByteReader source, NameCache names) {
        int part = source.number(RetainedEntries.PARTS - 1);
        int count = source.count(10);
        List<String> topics = new ArrayList<>(count);
        List<RetainedVersion> versions = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            topics.add(source.text());
            versions.add(version(source, names));
        }
        return new Frame.RetainedVersions(part, topics, versions);
    }

    private static Frame retainedPull(ByteReader source) {
        int count = source.count(1);
        List<String> topics = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            topics.add(source.text());
        }
        return new Frame.RetainedPull(topics);
    }

    /** Nothing for messages that have not waited, and go to no adopted sessions. */
    private static void parked(ByteWriter target, boolean parked, String homes) {
        if (parked || !homes.equals(Homes.NONE)) {
            target.u8(parked ? 1 : 0);
        }
        if (!homes.equals(Homes.NONE)) {
            target.text(homes);
        }
    }

    private static void rows(ByteWriter target, List<RouteRow> rows) {
        target.number(rows.size());
        for (RouteRow row : rows) {
            target.text(row.filter()).number(row.weight());
        }
    }

    private static void messages(ByteWriter target, List<ForwardedMessage> messages, long nowNanos) {
        target.number(messages.size());
        for (ForwardedMessage message : messages) {
            ForwardedMessage.writeBlock(target, message.message(), message.toAll(), message.groups(), nowNanos);
        }
    }

    /**
     * Decodes a frame.
     *
     * @param nowNanos the broker's monotonic clock, the base of the expiry of messages
     * @param names topics and client identifiers of earlier frames
     * @throws MalformedBytesException if the bytes are not a frame of this version
     */
    static Received decode(byte[] bytes, long nowNanos, NameCache names) {
        ByteReader source = new ByteReader(bytes, 0, bytes.length);
        int version = source.u8();
        if (version != Frame.VERSION) {
            throw new MalformedBytesException("frames of version " + version + " are not supported");
        }
        int type = source.u8();
        if (source.i32() != source.remaining()) {
            throw new MalformedBytesException("the length does not match the frame");
        }
        String nodeId = source.text(names);
        if (nodeId.isEmpty() || nodeId.length() > MAXIMUM_NODE_ID) {
            throw new MalformedBytesException("invalid node-id");
        }
        return new Received(new NodeIdentity(nodeId, source.i64()), frame(type, source, nowNanos, names));
    }

    private static @Nullable Frame frame(int type, ByteReader source, long nowNanos, NameCache names) {
        return switch (type) {
            case HELLO ->
                new Frame.Hello(
                        source.u8(),
                        source.u8(),
                        source.i64(),
                        source.text(),
                        source.u8() == 1,
                        source.number(Integer.MAX_VALUE),
                        source.text(),
                        source.remaining() > 0 ? source.text() : "",
                        source.remaining() > 0 ? source.text() : "");
            case DELTA -> new Frame.Delta(sequence(source), rows(source));
            case DIGEST -> new Frame.Digest(sequence(source), source.number(Integer.MAX_VALUE), source.i64());
            case PULL -> new Frame.Pull(source.i64(), source.i64());
            case SNAPSHOT -> snapshot(source);
            case STALE -> new Frame.Stale(source.i64());
            case TAKEN -> new Frame.Taken(source.i64(), source.text());
            case MORE ->
                new Frame.More(
                        source.i64(),
                        source.i64(),
                        sequence(source),
                        source.number(PeerRoutes.MAXIMUM_PARTS),
                        source.u8() == 1);
            case PUBLISH_BATCH ->
                new Frame.PublishBatch(
                        source.i64(),
                        source.i32(),
                        sequence(source),
                        sequence(source),
                        messages(source, nowNanos, names),
                        source.remaining() > 0 && source.u8() == 1,
                        source.remaining() > 0 ? source.text() : Homes.NONE);
            case PUBLISH_ACK ->
                new Frame.PublishAck(source.i64(), source.i32(), sequence(source), sequence(source), refusals(source));
            case RETAINED_UPDATE -> retainedUpdate(source, nowNanos, names);
            case RETAINED_DIGEST -> retainedDigest(source);
            case RETAINED_VERSIONS -> retainedVersions(source, names);
            case RETAINED_PULL -> retainedPull(source);
            case RETAINED_COMPARED -> retainedCompared(source);
            case CLOCKS -> new Frame.Clocks(wallClock(source), clock(source));
            case RETAINED_KNOWN -> new Frame.RetainedKnown(source.i64(), sequence(source));
            case RETAINED_ASK -> new Frame.RetainedAsk(sequence(source));
            case GROUP_CALL -> groupCall(source);
            case QUESTION -> new Frame.Question(sequence(source), source.text(), source.byteArray());
            case ANSWER_PART ->
                new Frame.AnswerPart(
                        sequence(source),
                        source.i64(),
                        source.number(Integer.MAX_VALUE),
                        source.number(Integer.MAX_VALUE),
                        source.byteArray());
            default -> ClientCodec.read(type, source, nowNanos, names);
        };
    }

    private static Frame groupCall(ByteReader source) {
        boolean wants = source.u8() == 1;
        int count = source.count(1);
        List<String> groups = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            groups.add(MessageBytes.group(source.text()).toString());
        }
        return new Frame.GroupCall(wants, groups);
    }

    private static Frame snapshot(ByteReader source) {
        long number = sequence(source);
        long sequence = sequence(source);
        int index = source.number(PeerRoutes.MAXIMUM_PARTS - 1);
        int parts = source.number(PeerRoutes.MAXIMUM_PARTS);
        if (index >= parts) {
            throw new MalformedBytesException("unknown part");
        }
        return new Frame.Snapshot(number, sequence, index, parts, rows(source));
    }

    private static long sequence(ByteReader source) {
        long sequence = source.number();
        if (sequence < 0) {
            throw new MalformedBytesException("a sequence is negative");
        }
        return sequence;
    }

    private static List<RouteRow> rows(ByteReader source) {
        int count = source.count(2);
        List<RouteRow> rows = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            rows.add(new RouteRow(ClientCodec.filter(source.text()), source.number(Integer.MAX_VALUE)));
        }
        return rows;
    }

    private static List<ForwardedMessage> messages(ByteReader source, long nowNanos, NameCache names) {
        int count = source.count(2);
        if (count == 0) {
            throw new MalformedBytesException("a batch is empty");
        }
        List<ForwardedMessage> messages = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            messages.add(ForwardedMessage.read(source.part(), nowNanos, names));
        }
        return messages;
    }

    private static List<Frame.Refusal> refusals(ByteReader source) {
        int count = source.count(2);
        List<Frame.Refusal> refusals = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            refusals.add(new Frame.Refusal(sequence(source), source.text()));
        }
        return refusals;
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.bytes.ByteReader;
import io.smqtt.bytes.ByteWriter;
import io.smqtt.bytes.MalformedBytesException;
import io.smqtt.bytes.NameCache;
import io.smqtt.message.QoS;
import io.smqtt.session.SessionState;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredSubscription;
import io.smqtt.thread.AnyThread;
import io.smqtt.topic.InvalidTopicException;
import io.smqtt.topic.SharedFilter;
import io.smqtt.topic.TopicFilter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Encodes and decodes frames about client identifiers and their sessions. */
@AnyThread
final class ClientCodec {

    private static final int CLAIM = 32;
    private static final int RELEASE = 33;
    private static final int RELEASED = 34;
    private static final int GRANTED = 35;
    private static final int SETTLED = 36;
    private static final int SESSION_PART = 37;
    private static final int SESSION_ACK = 38;
    private static final int OWNED = 39;
    private static final int SYNC = 40;
    private static final int SYNCED = 41;
    private static final int WILL_COPY = 42;
    private static final int WILL_ACK = 43;
    private static final int WILL_DONE = 44;
    private static final int INHERIT = 45;
    private static final int INHERITED = 46;
    private static final int SERVES = 60;
    private static final int SERVED = 61;

    private static final int NO_LOCAL = 0x04;
    private static final int RETAIN_AS_PUBLISHED = 0x08;
    private static final int RETAIN = 0x04;
    private static final int STATE_SHIFT = 3;
    private static final int MAXIMUM_IDENTIFIER = 268_435_455;

    private ClientCodec() {}

    static int type(Frame.Client frame) {
        if (frame instanceof Frame.Claim) {
            return CLAIM;
        } else if (frame instanceof Frame.Release) {
            return RELEASE;
        } else if (frame instanceof Frame.Released) {
            return RELEASED;
        } else if (frame instanceof Frame.Granted) {
            return GRANTED;
        } else if (frame instanceof Frame.Settled) {
            return SETTLED;
        } else if (frame instanceof Frame.SessionPart) {
            return SESSION_PART;
        } else if (frame instanceof Frame.SessionAck) {
            return SESSION_ACK;
        } else if (frame instanceof Frame.Owned) {
            return OWNED;
        }
        if (frame instanceof Frame.WillCopy) {
            return WILL_COPY;
        } else if (frame instanceof Frame.WillAck) {
            return WILL_ACK;
        } else if (frame instanceof Frame.WillDone) {
            return WILL_DONE;
        } else if (frame instanceof Frame.Inherit) {
            return INHERIT;
        } else if (frame instanceof Frame.Inherited) {
            return INHERITED;
        } else if (frame instanceof Frame.Serves) {
            return SERVES;
        } else if (frame instanceof Frame.Served) {
            return SERVED;
        }
        return frame instanceof Frame.Sync ? SYNC : SYNCED;
    }

    static void write(ByteWriter target, Frame.Client frame, long nowNanos) {
        if (frame instanceof Frame.Claim claim) {
            target.number(claim.number())
                    .text(claim.clientId())
                    .u8(claim.purpose().ordinal());
            guarded(optional(target, claim.userName()).i64(claim.clock()), claim.guarded());
        } else if (frame instanceof Frame.Release release) {
            key(target, release.claim()).u8(release.purpose().ordinal());
            optional(target, release.userName()).i64(release.clock()).i64(release.claimantClock());
            guarded(target, release.guarded());
        } else if (frame instanceof Frame.Released released) {
            key(target, released.claim()).u8(released.outcome().ordinal()).i64(released.clock());
            if (!released.unserved().isEmpty()) {
                target.text(released.unserved());
            }
        } else if (frame instanceof Frame.Granted granted) {
            target.number(granted.number()).text(granted.clientId());
            target.u8(granted.granted() ? 1 : 0).i64(granted.clock());
            if (!granted.answered().isEmpty()) {
                target.text(granted.unserved()).number(granted.answered().size());
                granted.answered().forEach(target::text);
            }
        } else if (frame instanceof Frame.Settled settled) {
            target.number(settled.number()).text(settled.clientId());
        } else if (frame instanceof Frame.SessionPart part) {
            part(target, part, nowNanos);
        } else if (frame instanceof Frame.SessionAck ack) {
            target.number(ack.number()).number(ack.attempt()).i64(ack.ofEpoch());
            target.number(ack.index()).u8(ack.taken() ? 1 : 0);
        } else if (frame instanceof Frame.Owned owned) {
            target.number(owned.clientIds().size());
            for (int i = 0; i < owned.clientIds().size(); i++) {
                target.text(owned.clientIds().get(i)).i64(owned.clocks().get(i));
            }
        } else if (frame instanceof Frame.Sync sync) {
            target.number(sync.number()).number(sync.sequence()).u8(sync.fence() ? 1 : 0);
        } else if (frame instanceof Frame.Synced synced) {
            target.number(synced.number()).i64(synced.ofEpoch());
        } else if (frame instanceof Frame.WillCopy copy) {
            will(target, copy, nowNanos);
        } else if (frame instanceof Frame.WillAck ack) {
            target.number(ack.version()).text(ack.clientId()).i64(ack.ofEpoch()).u8(ack.done() ? 1 : 0);
        } else if (frame instanceof Frame.WillDone done) {
            target.number(done.since()).text(done.clientId()).i64(done.ofEpoch());
        } else if (frame instanceof Frame.Inherit inherit) {
            optional(target.text(inherit.clientId()), inherit.userName());
            will(target, inherit.will(), nowNanos);
        } else if (frame instanceof Frame.Inherited inherited) {
            target.text(inherited.clientId()).u8(inherited.taken() ? 1 : 0);
        } else if (frame instanceof Frame.Serves serves) {
            target.text(serves.home()).number(serves.reign()).u8(serves.step().ordinal());
            target.number(serves.leftOut().size());
            serves.leftOut().forEach(target::text);
        } else if (frame instanceof Frame.Served served) {
            target.text(served.home()).number(served.reign()).u8(served.step().ordinal());
        }
    }

    static @Nullable Frame read(int type, ByteReader source, long nowNanos, NameCache names) {
        return switch (type) {
            case CLAIM ->
                new Frame.Claim(
                        number(source),
                        source.text(),
                        one(Frame.Purpose.values(), source),
                        optional(source),
                        source.i64(),
                        guarded(source));
            case RELEASE ->
                new Frame.Release(
                        key(source),
                        one(Frame.Purpose.values(), source),
                        optional(source),
                        source.i64(),
                        source.i64(),
                        guarded(source));
            case RELEASED ->
                new Frame.Released(key(source), one(Frame.Outcome.values(), source), source.i64(), textIfThere(source));
            case GRANTED -> granted(source);
            case SETTLED -> new Frame.Settled(number(source), source.text());
            case SESSION_PART -> part(source, nowNanos, names);
            case SESSION_ACK ->
                new Frame.SessionAck(
                        number(source),
                        number(source),
                        source.i64(),
                        source.number(Integer.MAX_VALUE),
                        source.u8() == 1);
            case OWNED -> owned(source);
            case SYNC -> new Frame.Sync(number(source), number(source), source.u8() == 1);
            case SYNCED -> new Frame.Synced(number(source), source.i64());
            case WILL_COPY -> will(source, nowNanos, names);
            case WILL_ACK -> new Frame.WillAck(number(source), source.text(), source.i64(), source.u8() == 1);
            case WILL_DONE -> new Frame.WillDone(number(source), source.text(), source.i64());
            case INHERIT -> new Frame.Inherit(source.text(), optional(source), heldWill(source, nowNanos, names));
            case SERVES ->
                new Frame.Serves(source.text(), number(source), one(Frame.ServeStep.values(), source), texts(source));
            case SERVED -> new Frame.Served(source.text(), number(source), one(Frame.ServeStep.values(), source));
            case INHERITED -> new Frame.Inherited(source.text(), source.u8() == 1);
            default -> null;
        };
    }

    private static void guarded(ByteWriter target, boolean guarded) {
        if (guarded) { // earlier versions read no more
            target.u8(1);
        }
    }

    private static boolean guarded(ByteReader source) {
        return source.remaining() > 0 && source.u8() == 1;
    }

    private static String textIfThere(ByteReader source) {
        return source.remaining() > 0 ? source.text() : "";
    }

    private static Frame granted(ByteReader source) {
        long number = number(source);
        String clientId = source.text();
        boolean granted = source.u8() == 1;
        long clock = source.i64();
        String unserved = textIfThere(source);
        List<String> answered = source.remaining() > 0 ? texts(source) : List.of();
        return new Frame.Granted(number, clientId, granted, clock, answered, unserved);
    }

    private static ByteWriter optional(ByteWriter target, @Nullable String text) {
        return text == null ? target.u8(0) : target.u8(1).text(text);
    }

    private static @Nullable String optional(ByteReader source) {
        return source.u8() == 0 ? null : source.text();
    }

    private static List<String> texts(ByteReader source) {
        int count = source.count(1);
        List<String> texts = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            texts.add(source.text());
        }
        return texts;
    }

    private static ByteWriter key(ByteWriter target, ClaimKey key) {
        return target.text(key.claimant()).i64(key.epoch()).number(key.number()).text(key.clientId());
    }

    private static ClaimKey key(ByteReader source) {
        return new ClaimKey(source.text(), source.i64(), number(source), source.text());
    }

    private static long number(ByteReader source) {
        long number = source.number();
        if (number < 0) {
            throw new MalformedBytesException("a number is negative");
        }
        return number;
    }

    private static <E> E one(E[] values, ByteReader source) {
        int index = source.u8();
        if (index >= values.length) {
            throw new MalformedBytesException("unknown value");
        }
        return values[index];
    }

    private static Frame owned(ByteReader source) {
        int count = source.count(9);
        List<String> clientIds = new ArrayList<>(count);
        List<Long> clocks = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            clientIds.add(source.text());
            clocks.add(source.i64());
        }
        return new Frame.Owned(clientIds, clocks);
    }

    private static void will(ByteWriter target, Frame.WillCopy copy, long nowNanos) {
        target.number(copy.version())
                .number(copy.since())
                .text(copy.clientId())
                .number(copy.holders().size());
        copy.holders().forEach(target::text);
        will(target, copy.will(), nowNanos);
    }

    private static void will(ByteWriter target, Frame.@Nullable HeldWill will, long nowNanos) {
        target.u8(will == null ? 0 : 1);
        if (will != null) {
            optional(target, will.userName()).number(will.expirySeconds()).number(will.delaySeconds());
            ByteWriter block = new ByteWriter(256);
            will.message().write(block, nowNanos);
            target.block(block);
        }
    }

    private static Frame will(ByteReader source, long nowNanos, NameCache names) {
        long version = number(source);
        long since = number(source);
        String clientId = source.text();
        int count = source.count(1);
        List<String> holders = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            holders.add(source.text());
        }
        return new Frame.WillCopy(version, since, clientId, holders, heldWill(source, nowNanos, names));
    }

    private static Frame.@Nullable HeldWill heldWill(ByteReader source, long nowNanos, NameCache names) {
        return source.u8() == 0
                ? null
                : new Frame.HeldWill(
                        optional(source),
                        seconds(source),
                        seconds(source),
                        ForwardedMessage.read(source.part(), nowNanos, names));
    }

    private static long seconds(ByteReader source) {
        long seconds = number(source);
        if (seconds > 0xFFFF_FFFFL) {
            throw new MalformedBytesException("an interval is out of range");
        }
        return seconds;
    }

    // --- sessions

    private static void part(ByteWriter target, Frame.SessionPart part, long nowNanos) {
        target.number(part.number()).number(part.attempt()).i64(part.toEpoch()).number(part.index());
        target.u8(part.kind().ordinal());
        SessionState state = part.state();
        target.u8(state == null ? 0 : 1);
        if (state != null) {
            optional(target.text(state.clientId()), state.userName()).number(state.expirySeconds());
            target.i64(state.claimClock()).i64(state.cleanClock());
            target.number(state.subscriptions().size());
            for (StoredSubscription subscription : state.subscriptions()) {
                target.text(subscription.clientFilter())
                        .u8(subscription.maximumQos().level()
                                | (subscription.noLocal() ? NO_LOCAL : 0)
                                | (subscription.retainAsPublished() ? RETAIN_AS_PUBLISHED : 0))
                        .number(subscription.identifier());
            }
            target.number(state.awaitingRelease().size());
            state.awaitingRelease().forEach(target::number);
        }
        target.number(part.messages().size());
        ByteWriter block = new ByteWriter(256);
        for (StoredMessage message : part.messages()) {
            block.truncate(0);
            message(block, message, nowNanos);
            target.block(block);
        }
        if (state != null && !state.numbers().isEmpty()) {
            target.number(state.numbers().size());
            state.numbers()
                    .forEach((packetId, number) -> target.number(packetId).i64(number));
        }
    }

    private static void message(ByteWriter target, StoredMessage message, long nowNanos) {
        target.u8(message.qos().level()
                | (message.retain() ? RETAIN : 0)
                | message.delivery().state().ordinal() << STATE_SHIFT);
        target.number(message.delivery().packetId()).text(message.clientFilter());
        target.number(message.identifiers().length);
        for (int identifier : message.identifiers()) {
            target.number(identifier);
        }
        new ForwardedMessage(message.message(), true, List.of()).write(target, nowNanos);
    }

    private static Frame part(ByteReader source, long nowNanos, NameCache names) {
        long number = number(source);
        long attempt = number(source);
        long toEpoch = source.i64();
        int index = source.number(Integer.MAX_VALUE);
        Frame.PartKind kind = one(Frame.PartKind.values(), source);
        SessionState state = source.u8() == 0 ? null : state(source);
        if ((state == null) == (index == 0)) {
            throw new MalformedBytesException("only the first part of a session has its state");
        }
        int count = source.count(2);
        List<StoredMessage> messages = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            messages.add(message(source.part(), i + 1L, nowNanos, names));
        }
        if (state != null && source.remaining() > 0) { // earlier nodes write none
            state = state.withNumbers(numbers(source));
        }
        return new Frame.SessionPart(number, attempt, toEpoch, index, kind, state, messages);
    }

    private static Map<Integer, Long> numbers(ByteReader source) {
        int count = source.count(1 + Long.BYTES);
        Map<Integer, Long> numbers = new HashMap<>();
        for (int i = 0; i < count; i++) {
            numbers.put(source.number(65_535), source.i64());
        }
        return numbers;
    }

    private static SessionState state(ByteReader source) {
        String clientId = source.text();
        String userName = optional(source);
        long expirySeconds = source.number();
        if (expirySeconds <= 0 || expirySeconds > 0xFFFF_FFFFL) {
            throw new MalformedBytesException("an expiry interval is out of range");
        }
        long claimClock = source.i64();
        long cleanClock = source.i64();
        int count = source.count(3);
        List<StoredSubscription> subscriptions = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            String filter = filter(source.text());
            int options = source.u8();
            subscriptions.add(new StoredSubscription(
                    filter,
                    qos(options),
                    (options & NO_LOCAL) != 0,
                    (options & RETAIN_AS_PUBLISHED) != 0,
                    source.number(MAXIMUM_IDENTIFIER)));
        }
        int waiting = source.count(1);
        List<Integer> awaitingRelease = new ArrayList<>(waiting);
        for (int i = 0; i < waiting; i++) {
            awaitingRelease.add(packetId(source));
        }
        return new SessionState(
                clientId, userName, expirySeconds, claimClock, cleanClock, subscriptions, awaitingRelease);
    }

    private static StoredMessage message(ByteReader source, long sequence, long nowNanos, NameCache names) {
        int flags = source.u8();
        QoS qos = qos(flags);
        int state = flags >> STATE_SHIFT;
        if (state >= StoredDelivery.State.values().length) {
            throw new MalformedBytesException("unknown state");
        }
        StoredDelivery.State delivery = StoredDelivery.State.values()[state];
        int packetId = source.number(65_535);
        if ((packetId == 0) != (delivery == StoredDelivery.State.WAITING)
                || (qos == QoS.AT_MOST_ONCE && packetId != 0)) {
            throw new MalformedBytesException("a packet identifier does not match the state");
        }
        String filter = filter(source.text());
        int[] identifiers = new int[source.count(1)];
        for (int i = 0; i < identifiers.length; i++) {
            identifiers[i] = source.number(MAXIMUM_IDENTIFIER);
        }
        ForwardedMessage forwarded = ForwardedMessage.read(source, nowNanos, names);
        return new StoredMessage(
                sequence,
                forwarded.message(),
                filter,
                qos,
                (flags & RETAIN) != 0,
                identifiers,
                new StoredDelivery(delivery, packetId));
    }

    private static QoS qos(int flags) {
        if ((flags & 0x03) == 0x03) {
            throw new MalformedBytesException("unknown QoS");
        }
        return QoS.of(flags & 0x03);
    }

    private static int packetId(ByteReader source) {
        int packetId = source.number(65_535);
        if (packetId == 0) {
            throw new MalformedBytesException("a packet identifier is 0");
        }
        return packetId;
    }

    static String filter(String text) {
        try {
            if (SharedFilter.isShared(text)) {
                SharedFilter.of(text);
            } else {
                TopicFilter.of(text);
            }
            return text;
        } catch (InvalidTopicException e) {
            throw new MalformedBytesException("a filter is not well-formed");
        }
    }
}

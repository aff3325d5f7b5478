// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import io.smqtt.bytes.MalformedBytesException;
import io.smqtt.bytes.NameCache;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.PublishProperties;
import io.smqtt.message.QoS;
import io.smqtt.session.SessionState;
import io.smqtt.spi.RetainedVersion;
import io.smqtt.spi.StoredDelivery;
import io.smqtt.spi.StoredMessage;
import io.smqtt.spi.StoredSubscription;
import io.smqtt.topic.SharedFilter;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** One frame of each type, and its bytes as they are kept in the repository: what a later version must still read. */
final class GoldenFrames {

    static final NodeIdentity SENDER = new NodeIdentity("node-1", 0x0102030405060708L);

    private GoldenFrames() {}

    static Map<String, Frame> all() {
        Map<String, Frame> frames = new LinkedHashMap<>();
        frames.put("hello", new Frame.Hello(1, 1, 0, "0.1.0", true, 2, "10.0.0.1:7800", ""));
        frames.put(
                "delta",
                new Frame.Delta(
                        300,
                        List.of(
                                new RouteRow("a/b", 1),
                                new RouteRow("é/+/#", 0),
                                new RouteRow("$share/group/a/#", 1_000))));
        frames.put("digest", new Frame.Digest(70_000, 3, 0xFEDC_BA98_7654_3210L));
        frames.put("pull", new Frame.Pull(7, 299));
        frames.put("pull-all", new Frame.Pull(7, Frame.NOTHING));
        frames.put("more", new Frame.More(7, Frame.NOTHING, 5, 200, true));
        frames.put("snapshot", new Frame.Snapshot(5, 300, 1, 2, List.of(new RouteRow("a/b", 1))));
        frames.put("stale", new Frame.Stale(8));
        frames.put("taken", new Frame.Taken(8, "10.0.0.1:7800"));
        frames.put(
                "publish-batch", new Frame.PublishBatch(9, 2, 100, 128, List.of(plain(), full()), false, Homes.NONE));
        frames.put(
                "publish-ack",
                new Frame.PublishAck(
                        9,
                        2,
                        200,
                        129,
                        List.of(new Frame.Refusal(128, "$share/group/a/#"), new Frame.Refusal(129, ""))));
        frames.put(
                "retained-update",
                new Frame.RetainedUpdate(List.of(
                        RetainedRow.of(version(), plain().message()),
                        new RetainedRow(RetainedRow.Kind.CLEARED, "a/b/c", version(), null),
                        new RetainedRow(RetainedRow.Kind.CLEAR, "é", version(), null))));
        frames.put("retained-known", new Frame.RetainedKnown(9, 300));
        frames.put("retained-ask", new Frame.RetainedAsk(300));
        frames.put("retained-digest", new Frame.RetainedDigest(new long[] {1, -1, 0x1234_5678_9ABC_DEF0L}));
        frames.put(
                "retained-versions",
                new Frame.RetainedVersions(200, List.of("a/b", "c"), List.of(version(), version())));
        frames.put("group-call", new Frame.GroupCall(true, List.of("$share/group/a/#", "$share/é/b")));
        frames.put("retained-pull", new Frame.RetainedPull(List.of("a/b", "c")));
        frames.put("retained-compared", new Frame.RetainedCompared(200, 300));
        frames.put("clocks", new Frame.Clocks(1_700_000_000_000L, RetainedVersion.clockOf(1_700_000_000_001L) + 3));
        frames.put("question", new Frame.Question(7, "management", new byte[] {1, 2, 3}));
        frames.put("answer-part", new Frame.AnswerPart(7, 1_700_000_000_000L, 1, 3, new byte[] {4, 5}));
        clients(frames);
        return frames;
    }

    /** All types that the decoder knows, by its own word: of others it reads no frame, and these do not do without a body. */
    static List<Byte> typesThatAreRead() {
        List<Byte> types = new ArrayList<>();
        byte[] nothing = FrameCodec.encode(SENDER, new Frame.Stale(0), 0);
        byte[] frame = Arrays.copyOf(nothing, nothing.length - Long.BYTES);
        frame[5] -= Long.BYTES;
        for (int type = 0; type < 256; type++) {
            frame[1] = (byte) type;
            try {
                if (FrameCodec.decode(frame, 0, new NameCache(16)).frame() != null) {
                    types.add((byte) type);
                }
            } catch (MalformedBytesException e) {
                types.add((byte) type);
            }
        }
        return types;
    }

    private static void clients(Map<String, Frame> frames) {
        ClaimKey key = new ClaimKey("node-2", 9, 300, "client");
        frames.put("claim", new Frame.Claim(300, "client", Frame.Purpose.DISCARD, "user", Frame.NOTHING));
        frames.put("claim-inherit", new Frame.Claim(300, "client", Frame.Purpose.INHERIT, "user", Frame.NOTHING));
        frames.put("release", new Frame.Release(key, Frame.Purpose.RESUME, null, 1_000, 999));
        frames.put("release-inherit", new Frame.Release(key, Frame.Purpose.INHERIT, null, 1_000, 999));
        frames.put("released", new Frame.Released(key, Frame.Outcome.NEWER, 1_001));
        frames.put("granted", new Frame.Granted(300, "client", true, 1_002));
        frames.put("settled", new Frame.Settled(300, "client"));
        frames.put(
                "session-state",
                new Frame.SessionPart(
                        300,
                        200,
                        9,
                        0,
                        Frame.PartKind.STATE,
                        new SessionState(
                                "client",
                                "user",
                                3_600,
                                1_003,
                                1_001,
                                List.of(
                                        new StoredSubscription("a/+", QoS.AT_LEAST_ONCE, true, true, 200),
                                        new StoredSubscription("$share/g/#", QoS.EXACTLY_ONCE, false, false, 0)),
                                List.of(1, 65_535)),
                        List.of()));
        frames.put(
                "session-messages",
                new Frame.SessionPart(
                        300,
                        200,
                        9,
                        7,
                        Frame.PartKind.MESSAGES,
                        null,
                        List.of(
                                stored(1, StoredDelivery.WAITING, 3, 300),
                                stored(2, new StoredDelivery(StoredDelivery.State.SENT, 400)))));
        frames.put("session-ack", new Frame.SessionAck(300, 200, 9, 7, true));
        frames.put("owned", new Frame.Owned(List.of("client", "é"), List.of(1_000L, 0L)));
        frames.put("sync", new Frame.Sync(5, 300, true));
        frames.put("synced", new Frame.Synced(5, 9));
        frames.put(
                "will-copy",
                new Frame.WillCopy(
                        300, 200, "client", List.of("node-2", "é"), new Frame.HeldWill("user", 3_600, 200, full())));
        frames.put("will-none", new Frame.WillCopy(301, 200, "client", List.of(), null));
        frames.put("will-ack", new Frame.WillAck(300, "client", 9, true));
        frames.put("will-done", new Frame.WillDone(300, "client", 9));
        frames.put("inherit", new Frame.Inherit("client", "user", new Frame.HeldWill("user", 3_600, 200, full())));
        frames.put("inherit-no-will", new Frame.Inherit("client", null, null));
        frames.put("inherited", new Frame.Inherited("client", true));
        frames.put("serves", new Frame.Serves("node-2", 300, Frame.ServeStep.PARK_NOTHING, List.of()));
        frames.put("serves-in-part", new Frame.Serves("node-2", 300, Frame.ServeStep.SEND_ON, List.of("a/+", "b/#")));
        frames.put("served", new Frame.Served("node-2", 300, Frame.ServeStep.PARK_AGAIN));
    }

    private static StoredMessage stored(long number, StoredDelivery delivery, int... identifiers) {
        return new StoredMessage(number, full().message(), "é", QoS.AT_LEAST_ONCE, true, identifiers, delivery);
    }

    private static RetainedVersion version() {
        return new RetainedVersion(RetainedVersion.clockOf(1_700_000_000_000L) + 3, "node-2");
    }

    private static ForwardedMessage plain() {
        return new ForwardedMessage(
                ApplicationMessage.builder("a/b").payload("hello").build(), true, List.of());
    }

    private static ForwardedMessage full() {
        PublishProperties properties = PublishProperties.builder()
                .payloadUtf8()
                .contentType("text/plain")
                .responseTopic("answers")
                .correlationData(new byte[] {1, 2, 3})
                .userProperty("key", "value")
                .build();
        ApplicationMessage message = ApplicationMessage.builder("é")
                .payload("x".repeat(200))
                .qos(QoS.EXACTLY_ONCE)
                .retain(true)
                .properties(properties)
                .expiryInterval(Duration.ofSeconds(3_600))
                .build()
                .accepted(0x1122_3344_5566_7788L, 0, "publisher");
        return new ForwardedMessage(message, false, List.of(SharedFilter.of("$share/group/#")));
    }

    static byte[] bytes(String name) {
        String resource = "/frames/v1/" + name + ".hex";
        try (InputStream stream = GoldenFrames.class.getResourceAsStream(resource)) {
            String hex = new String(Objects.requireNonNull(stream, resource).readAllBytes(), StandardCharsets.US_ASCII);
            return HexFormat.of().parseHex(hex.replaceAll("\\s", ""));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.smqtt.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.bytes.MalformedBytesException;
import io.smqtt.bytes.NameCache;
import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.QoS;
import io.smqtt.session.SessionState;
import io.smqtt.spi.RetainedVersion;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class FrameCodecTest {

    static Iterable<String> names() {
        return GoldenFrames.all().keySet();
    }

    @ParameterizedTest
    @MethodSource("names")
    void framesAreWrittenAsTheyAreKept(String name) {
        byte[] written = FrameCodec.encode(GoldenFrames.SENDER, frame(name), 0);

        assertThat(written).isEqualTo(GoldenFrames.bytes(name));
    }

    @ParameterizedTest
    @CsvSource({"4294967296, 0", "0, 4294967296", "9223372036854775807, 9223372036854775807"})
    void aWillOfTooManySecondsIsRefused(long expirySeconds, long delaySeconds) {
        ForwardedMessage message =
                new ForwardedMessage(ApplicationMessage.builder("t").build(), true, List.of());
        byte[] frame = FrameCodec.encode(
                GoldenFrames.SENDER,
                new Frame.WillCopy(
                        1, 1, "c", List.of("b"), new Frame.HeldWill(null, expirySeconds, delaySeconds, message)),
                0);

        assertThatThrownBy(() -> FrameCodec.decode(frame, 0, new NameCache(16)))
                .isInstanceOf(MalformedBytesException.class)
                .hasMessageContaining("out of range");
    }

    @ParameterizedTest
    @MethodSource("names")
    void keptFramesAreRead(String name) {
        FrameCodec.Received received = FrameCodec.decode(GoldenFrames.bytes(name), 0, new NameCache(16));

        assertThat(received.sender()).isEqualTo(GoldenFrames.SENDER);
        assertThat(received.frame()).isInstanceOf(frame(name).getClass());
        assertThat(FrameCodec.encode(received.sender(), known(received), 0)).isEqualTo(GoldenFrames.bytes(name));
    }

    @ParameterizedTest
    @MethodSource("names")
    void whatALaterVersionAddsAtTheEndIsPassedOver(String name) {
        byte[] golden = GoldenFrames.bytes(name);
        byte[] longer = Arrays.copyOf(golden, golden.length + 3);
        putLength(longer);

        FrameCodec.Received received = FrameCodec.decode(longer, 0, new NameCache(16));

        assertThat(FrameCodec.encode(received.sender(), known(received), 0)).isEqualTo(golden);
    }

    @ParameterizedTest
    @MethodSource("names")
    void framesThatAreCutOffAreRefused(String name) {
        byte[] golden = GoldenFrames.bytes(name);
        for (int length = 0; length < golden.length; length++) {
            byte[] cut = Arrays.copyOf(golden, length);
            assertThatThrownBy(() -> FrameCodec.decode(cut, 0, new NameCache(16)))
                    .isInstanceOf(MalformedBytesException.class);
            if (length > 6) {
                putLength(cut);
                assertThatThrownBy(() -> FrameCodec.decode(cut, 0, new NameCache(16)))
                        .isInstanceOf(MalformedBytesException.class);
            }
        }
    }

    @Test
    void theNumbersOfASessionComeWithIt() {
        SessionState state = new SessionState(
                "client", null, 60, 1, 2, List.of(), List.of(3), Map.of(0, Long.MIN_VALUE, 3, -1L, 65_535, 7L));
        Frame.SessionPart part = new Frame.SessionPart(1, 1, 1, 0, Frame.PartKind.STATE, state, List.of());

        byte[] written = FrameCodec.encode(GoldenFrames.SENDER, part, 0);

        assertThat(FrameCodec.decode(written, 0, new NameCache(16)).frame()).isEqualTo(part);
    }

    @Test
    void theNumberOfAnUpdateAndThatOfAQuestionComeBehindTheRest() {
        RetainedRow row = new RetainedRow(RetainedRow.Kind.CLEARED, "t", new RetainedVersion(7, "node-1"), null);
        byte[] update = FrameCodec.encode(GoldenFrames.SENDER, new Frame.RetainedUpdate(List.of(row), 300), 0);
        byte[] digest = FrameCodec.encode(GoldenFrames.SENDER, new Frame.RetainedDigest(new long[] {1}, 300), 0);

        assertThat(FrameCodec.decode(update, 0, new NameCache(16)).frame())
                .isEqualTo(new Frame.RetainedUpdate(List.of(row), 300));
        assertThat(FrameCodec.decode(digest, 0, new NameCache(16)).frame())
                .isInstanceOfSatisfying(
                        Frame.RetainedDigest.class,
                        read -> assertThat(read.answers()).isEqualTo(300));
    }

    @Test
    void theNodesThatHaveConfirmedAClaimComeWithIt() {
        ClaimKey key = new ClaimKey("node-2", 9, 300, "client");
        List<Frame> frames = List.of(
                new Frame.Claim(300, "client", Frame.Purpose.RESUME, null, 7, true),
                new Frame.Release(key, Frame.Purpose.DISCARD, null, 1_000, 999, true),
                new Frame.Released(key, Frame.Outcome.FREE, 0, "node-3"),
                new Frame.Granted(300, "client", true, 1_002, List.of("node-1", "node-4"), ""),
                new Frame.Granted(300, "client", true, 1_002, List.of("node-1"), "node-3"));

        for (Frame frame : frames) {
            byte[] written = FrameCodec.encode(GoldenFrames.SENDER, frame, 0);
            assertThat(FrameCodec.decode(written, 0, new NameCache(16)).frame()).isEqualTo(frame);
        }
    }

    @Test
    void aMessageThatMayHaveComeBeforeIsMarked() {
        ApplicationMessage message =
                ApplicationMessage.builder("t").qos(QoS.EXACTLY_ONCE).build().accepted(5, 0, "client");
        List<ForwardedMessage> messages = List.of(
                new ForwardedMessage(message.repeated(), true, List.of()),
                new ForwardedMessage(message, true, List.of()));

        byte[] written = FrameCodec.encode(
                GoldenFrames.SENDER, new Frame.PublishBatch(9, 2, 100, 128, messages, false, Homes.NONE), 0);

        Frame.PublishBatch read = (Frame.PublishBatch) Objects.requireNonNull(
                FrameCodec.decode(written, 0, new NameCache(16)).frame());
        assertThat(read.messages())
                .extracting(forwarded -> forwarded.message().isRepeated())
                .containsExactly(true, false);
    }

    @Tag("slow")
    @Test
    void anyBytesAreAFrameOrAreRefused() {
        Random random = new Random(1);
        int refused = 0;
        for (String name : names()) {
            for (int i = 0; i < 5_000; i++) {
                byte[] changed = GoldenFrames.bytes(name);
                for (int flips = random.nextInt(4); flips >= 0; flips--) {
                    changed[random.nextInt(changed.length)] = (byte) random.nextInt(256);
                }
                try {
                    FrameCodec.decode(changed, 0, new NameCache(16));
                } catch (MalformedBytesException e) { // anything else fails the test
                    refused++;
                }
            }
        }
        assertThat(refused).isPositive();
    }

    @Test
    void oneOfEachTypeThatIsReadIsKept() {
        Set<Byte> kept = new TreeSet<>();
        names().forEach(name -> kept.add(GoldenFrames.bytes(name)[1]));

        assertThat(kept).containsExactlyElementsOf(GoldenFrames.typesThatAreRead());
    }

    @Test
    void anUnknownTypeIsPassedOver() {
        byte[] bytes = GoldenFrames.bytes("hello");
        bytes[1] = 99;

        FrameCodec.Received received = FrameCodec.decode(bytes, 0, new NameCache(16));

        assertThat(received.frame()).isNull();
        assertThat(received.sender()).isEqualTo(GoldenFrames.SENDER);
    }

    @Test
    void anotherVersionIsRefused() {
        byte[] bytes = GoldenFrames.bytes("hello");
        bytes[0] = 2;

        assertThatThrownBy(() -> FrameCodec.decode(bytes, 0, new NameCache(16)))
                .isInstanceOf(MalformedBytesException.class)
                .hasMessageContaining("version 2");
    }

    @Test
    void aFrameThatAnnouncesMoreThanItHasAllocatesNothing() {
        byte[] bytes = GoldenFrames.bytes("delta");
        int rows = 6 + 1 + "node-1".length() + 8 + 2;
        bytes[rows] = (byte) 0xFF; // so many rows cannot follow
        bytes[rows + 1] = 0x7F;

        assertThatThrownBy(() -> FrameCodec.decode(bytes, 0, new NameCache(16)))
                .isInstanceOf(MalformedBytesException.class);
    }

    @Test
    void expiryCountsDownOnTheWay() {
        Frame frame = frame("publish-batch");
        byte[] later = FrameCodec.encode(GoldenFrames.SENDER, frame, TimeUnit.SECONDS.toNanos(600));

        Frame.PublishBatch batch = (Frame.PublishBatch) known(FrameCodec.decode(later, 5, new NameCache(16)));

        ApplicationMessage message = batch.messages().get(1).message();
        assertThat(message.expiryIntervalSeconds()).isEqualTo(3_000);
        assertThat(message.acceptedAtNanos()).isEqualTo(5);
    }

    private static Frame frame(String name) {
        return GoldenFrames.all().get(name);
    }

    private static Frame known(FrameCodec.Received received) {
        Frame frame = received.frame();
        assertThat(frame).isNotNull();
        return frame;
    }

    private static void putLength(byte[] frame) {
        int length = frame.length - 6;
        frame[2] = (byte) (length >>> 24);
        frame[3] = (byte) (length >>> 16);
        frame[4] = (byte) (length >>> 8);
        frame[5] = (byte) length;
    }
}

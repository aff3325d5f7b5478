// SPDX-License-Identifier: Apache-2.0
package io.smqtt.codec;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("slow")
class Utf8Test {

    private final CharsetDecoder reference = StandardCharsets.UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPORT)
            .onUnmappableCharacter(CodingErrorAction.REPORT);

    private boolean isStrictByReference(byte[] bytes) {
        for (byte b : bytes) {
            if (b == 0) {
                return false;
            }
        }
        try {
            reference.decode(ByteBuffer.wrap(bytes));
            return true;
        } catch (CharacterCodingException e) {
            return false;
        }
    }

    private void compare(byte... bytes) {
        if (Utf8.isStrict(bytes, 0, bytes.length) != isStrictByReference(bytes)) {
            throw new AssertionError("judged wrongly: " + Arrays.toString(bytes));
        }
    }

    @Test // [MQTT-1.5.4-1] [MQTT-1.5.4-2]
    void agreesWithTheJdkOnAllSequencesOfOneAndTwoBytesAndManyLonger() {
        for (int first = 0; first < 256; first++) {
            compare((byte) first);
            for (int second = 0; second < 256; second++) {
                compare((byte) first, (byte) second);
                for (int third = 0; third < 256 && first >= 0x80; third += 21) {
                    compare((byte) first, (byte) second, (byte) third);
                    compare((byte) first, (byte) second, (byte) (0x80 | third & 0x3F), (byte) (0x80 + third % 64));
                }
            }
        }
        assertThat(Utf8.isStrict(new byte[0], 0, 0)).isTrue();
    }

    @Test
    void agreesWithTheJdkOnRandomTextWithRandomDamage() {
        Random random = new Random(20_260_101);
        for (int i = 0; i < 200_000; i++) {
            int[] text = random.ints(random.nextInt(24), 1, random.nextBoolean() ? 0x7F : 0x10FFFF)
                    .filter(c -> c < 0xD800 || c > 0xDFFF)
                    .toArray();
            byte[] bytes = new String(text, 0, text.length).getBytes(StandardCharsets.UTF_8);
            if (bytes.length > 0 && random.nextBoolean()) {
                bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
            }
            compare(bytes);
        }
    }

    @Test
    void looksOnlyAtItsRange() {
        byte[] bytes = {0, (byte) 0xFF, 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 0};

        assertThat(Utf8.isStrict(bytes, 2, 10)).isTrue();
        assertThat(Utf8.isStrict(bytes, 2, 11)).isFalse();
        assertThat(Utf8.isStrict(new byte[] {(byte) 0xC3, (byte) 0xA4}, 0, 1)).isFalse();
    }
}

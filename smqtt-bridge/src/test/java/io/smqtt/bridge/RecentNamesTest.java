// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bridge;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RecentNamesTest {

    private final List<String> asked = new ArrayList<>();
    private final RecentNames names = new RecentNames(this::name);

    private @Nullable String name(String topic) {
        asked.add(topic);
        return topic.startsWith("x") ? null : "there/" + topic;
    }

    private @Nullable String next(String topic) {
        byte[] bytes = topic.getBytes(StandardCharsets.UTF_8);
        ByteBuf in = Unpooled.buffer().writeBytes(bytes).writeByte(7);
        byte[] name = names.next(in, bytes.length);
        assertThat(in.readByte()).isEqualTo((byte) 7);
        return name == null ? null : new String(name, StandardCharsets.UTF_8);
    }

    @Test
    void aTopicThatIsKnownIsNotNamedAgain() {
        for (int i = 0; i < 3; i++) {
            assertThat(next("plant/7")).isEqualTo("there/plant/7");
            assertThat(next("Temperatur/°C")).isEqualTo("there/Temperatur/°C");
            assertThat(next("x")).isNull();
        }
        assertThat(asked).containsExactly("plant/7", "Temperatur/°C", "x");
    }

    @Test
    void topicsOfAnyLengthAndNumberHaveTheirNames() {
        Random random = new Random(1);
        for (int i = 0; i < 20_000; i++) {
            String topic = "t" + "/x".repeat(random.nextInt(200)) + random.nextInt(5_000);
            assertThat(next(topic)).isEqualTo("there/" + topic);
        }
    }

    @Test
    void aNameThatIsTooLongForAPacketIsNone() {
        assertThat(next("t".repeat(65_529))).hasSize(65_535);
        assertThat(next("t".repeat(65_530))).isNull();
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.smqtt.sink.redis;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class GroupLagTest {

    private static byte[] b(String text) {
        return text.getBytes(UTF_8);
    }

    @Test
    void lagIsThatOfTheGroup() {
        List<Object> groups = List.of(
                List.of(b("name"), b("other"), b("consumers"), 1L, b("lag"), 5L),
                List.of("name", ByteBuffer.wrap(b("smqtt")), "pending", 2L, ByteBuffer.wrap(b("lag")), 7L));

        assertThat(GroupLag.of(groups, b("smqtt"))).isEqualTo(7);
        assertThat(GroupLag.of(groups, b("other"))).isEqualTo(5);
        assertThat(GroupLag.of(groups, b("none"))).isEqualTo(-1);
    }

    @Test
    void lagThatRedisDoesNotKnowIsNone() {
        assertThat(GroupLag.of(List.of(List.of(b("name"), b("g"), b("pending"), 0L)), b("g")))
                .isEqualTo(-1);
        assertThat(GroupLag.of(List.of(Arrays.asList(b("name"), b("g"), b("lag"), null)), b("g")))
                .isEqualTo(-1);
    }
}

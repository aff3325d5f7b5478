// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.smqtt.Explanation;
import io.smqtt.message.QoS;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SizeLimitTest {

    private static final ObjectMapper MAPPER = new ObjectMapper();

    /** Whatever there is too much of, all of it that is not told is counted, and each of the others still has its place. */
    @ParameterizedTest
    @ValueSource(strings = {"a", "\u0001", "\u20ac", "\""})
    void anExplanationHasRoomForSoMuch(String character) throws Exception {
        String text = character.repeat(10_000);
        List<String> texts = new ArrayList<>();
        List<Explanation.FilterMatch> filters = new ArrayList<>();
        List<Explanation.Receiver> receivers = new ArrayList<>();
        List<Explanation.Group> groups = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            texts.add(i + text);
            filters.add(new Explanation.FilterMatch(i + text, List.of(text, text), 1));
            receivers.add(new Explanation.Receiver(
                    i + text,
                    List.of(text, text),
                    QoS.AT_LEAST_ONCE,
                    true,
                    Explanation.Verdict.ALLOWED,
                    1,
                    2,
                    Explanation.Outcome.SENT,
                    null));
        }
        groups.add(new Explanation.Group("g", "f", texts, 3));
        groups.add(new Explanation.Group("h", text, List.of(), 3));
        Explanation all = new Explanation(
                character.repeat(60_000),
                character.repeat(60_000),
                Explanation.Verdict.ALLOWED,
                true,
                filters,
                receivers,
                groups,
                List.of("n1", "n2"),
                17);

        Bounded<Explanation> told = SizeLimit.of(all, BrokerView.MAX_BYTES);
        JsonNode answer = bounded(Json.of(Fields.of(told, Fields::of)));

        JsonNode left = answer.path("leftOut");
        assertThat(answer.path("truncated").asBoolean()).isTrue();
        assertThat(answer.path("filters").size())
                .isPositive()
                .isEqualTo(1_000 - left.path("filters").asInt());
        assertThat(answer.path("receivers").size())
                .isPositive()
                .isEqualTo(1_000 - left.path("receivers").asInt());
        assertThat(answer.path("groups").get(0).path("members").size())
                .isPositive()
                .isEqualTo(1_000 - left.path("groupMembers").asInt());
        assertThat(answer.path("groups").size())
                .isEqualTo(2 - left.path("groups").asInt());
        assertThat(answer.path("moreReceivers").asInt()).isEqualTo(17);
        int shown = 0;
        for (JsonNode receiver : answer.path("receivers")) {
            shown += receiver.path("filters").size();
        }
        assertThat(shown)
                .isEqualTo(2 * answer.path("receivers").size()
                        - left.path("receiverFilters").asInt());
    }

    private static JsonNode bounded(String json) throws Exception {
        assertThat(json.getBytes(StandardCharsets.UTF_8).length)
                .isLessThanOrEqualTo(BrokerView.MAX_BYTES)
                .isGreaterThan(BrokerView.MAX_BYTES / 2);
        return MAPPER.readTree(json);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.smqtt.ClientDetails;
import io.smqtt.ClientInfo;
import io.smqtt.Explanation;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import io.smqtt.spi.ClientIdentity;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SizeLimitTest {

    private static final ObjectMapper MAPPER = new ObjectMapper();

    /** Of the widest that a client can choose: each becomes one byte, six or three. */
    @ParameterizedTest
    @ValueSource(strings = {"a", "\u0001", "\u20ac", "\""})
    void anAnswerHasRoomForSoManyBytes(String character) {
        String json = Json.of(Fields.of("clients", page(2_000, character.repeat(20_000)), Fields::of));

        assertThat(json.getBytes(StandardCharsets.UTF_8).length)
                .isLessThanOrEqualTo(BrokerView.MAX_BYTES)
                .isGreaterThan(BrokerView.MAX_BYTES / 2);
        assertThat(json).startsWith("{\"total\":2000,\"truncated\":true,\"clients\":[{");
    }

    @Test
    void asManyAsMayBeAskedForHaveRoomIfTheirNamesAreShort() {
        Page<ClientInfo> page = page(BrokerView.MAX_ENTRIES, "device-".repeat(10));

        assertThat(page.shown()).hasSize(BrokerView.MAX_ENTRIES);
        assertThat(Json.of(Fields.of("clients", page, Fields::of)))
                .startsWith("{\"total\":10000,\"truncated\":false,\"clients\":[{");
    }

    /** A client with more and longer filters than have room: the answer says how many it leaves out. */
    @ParameterizedTest
    @ValueSource(strings = {"a", "\u0001", "\u20ac", "\""})
    void aSessionHasRoomForSoManyFilters(String character) throws Exception {
        List<ClientDetails.Filter> filters = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            filters.add(new ClientDetails.Filter(i + character.repeat(20_000), QoS.AT_LEAST_ONCE, false, true, 7));
        }
        ClientInfo info = new ClientInfo(identity(character.repeat(60_000)), true, 2_000, 1, 1);
        ClientDetails details = new ClientDetails(info, null, null, true, 20, 5, filters);

        Bounded<ClientDetails> told = SizeLimit.of(details, BrokerView.MAX_BYTES);
        JsonNode answer = bounded(Json.of(Fields.of(told, Fields::of)));

        int left = answer.path("leftOut").path("filters").asInt();
        assertThat(answer.path("truncated").asBoolean()).isTrue();
        assertThat(left).isPositive();
        assertThat(answer.path("filters").size()).isPositive().isEqualTo(2_000 - left);
        assertThat(PlainText.ofClient(told))
                .endsWith("left out, since the answer would be too long: " + left + " filters\n");
    }

    @Test
    void aSessionThatHasRoomIsToldWhole() throws Exception {
        ClientDetails details = new ClientDetails(
                new ClientInfo(identity("c"), true, 1, 0, 0),
                null,
                null,
                false,
                20,
                0,
                List.of(new ClientDetails.Filter("a/+", QoS.AT_MOST_ONCE, false, false, 0)));

        Bounded<ClientDetails> told = SizeLimit.of(details, BrokerView.MAX_BYTES);
        JsonNode answer = MAPPER.readTree(Json.of(Fields.of(told, Fields::of)));

        assertThat(told.answer()).isEqualTo(details);
        assertThat(told.leftOut()).isEmpty();
        assertThat(answer.path("truncated").asBoolean(true)).isFalse();
        assertThat(answer.has("leftOut")).isFalse();
    }

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
        assertThat(PlainText.ofExplanation(told))
                .contains("left out, since the answer would be too long: "
                        + left.path("filters").asInt() + " filters, ")
                .contains(left.path("groupMembers").asInt() + " group members")
                .hasSizeLessThan(BrokerView.MAX_BYTES);
    }

    private static JsonNode bounded(String json) throws Exception {
        assertThat(json.getBytes(StandardCharsets.UTF_8).length)
                .isLessThanOrEqualTo(BrokerView.MAX_BYTES)
                .isGreaterThan(BrokerView.MAX_BYTES / 2);
        return MAPPER.readTree(json);
    }

    private static ClientIdentity identity(String text) {
        return new ClientIdentity(
                text, text, new InetSocketAddress("127.0.0.1", 1883), "tcp", ProtocolVersion.MQTT_5, Set.of());
    }

    private static Page<ClientInfo> page(int count, String text) {
        Page.Builder<ClientInfo, ClientInfo> page =
                new Page.Builder<>(BrokerView.MAX_ENTRIES, BrokerView.MAX_BYTES, one -> one, SizeLimit::bytesOf);
        ClientIdentity identity = identity(text);
        for (int i = 0; i < count; i++) {
            page.add(new ClientInfo(identity, true, 1, 1, 1));
        }
        return page.build();
    }
}

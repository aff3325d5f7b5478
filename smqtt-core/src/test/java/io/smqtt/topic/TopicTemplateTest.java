// SPDX-License-Identifier: Apache-2.0
package io.smqtt.topic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TopicTemplateTest {

    private static final List<String> NAMES = List.of("clientid", "1", "2");

    @Test
    void placeholdersAreReplaced() {
        assertThat(fill("c/${clientid}/x-${clientid}", Map.of("clientid", "one")))
                .isEqualTo("c/one/x-one");
        assertThat(fill("$share/g/$2/$1", Map.of("1", "a/b", "2", "+"))).isEqualTo("$share/g/+/a/b");
        assertThat(fill("plain/$", Map.of())).isEqualTo("plain/$");
        assertThat(fill("$1$2", Map.of("1", "", "2", "b"))).isEqualTo("b");
        assertThat(fill("x/$1", Map.of("1", "${clientid}")))
                .as("values are taken as they are")
                .isEqualTo("x/${clientid}");
    }

    @ParameterizedTest
    @ValueSource(strings = {"+", "#", "a/b", "", "$SYS", "a+", "\0"})
    void aNameThatIsNoPlainLevelGivesNoTopic(String clientId) {
        assertThat(fill("c/${clientid}", Map.of("clientid", clientId))).isNull();
    }

    @Test
    void aMissingValueGivesNoTopic() {
        assertThat(fill("c/${clientid}", Map.of())).isNull();
    }

    @Test
    void unknownPlaceholdersAreRejected() {
        assertThatThrownBy(() -> TopicTemplate.parse("c/${client}", NAMES))
                .hasMessage("has the unknown placeholder ${client}");
        assertThatThrownBy(() -> TopicTemplate.parse("c/$3", NAMES)).hasMessage("has the unknown placeholder $3");
        assertThatThrownBy(() -> TopicTemplate.parse("c/${clientid", NAMES)).hasMessage("has a placeholder without }");
    }

    private static String fill(String template, Map<String, String> values) {
        return TopicTemplate.parse(template, NAMES).fill(values::get);
    }
}

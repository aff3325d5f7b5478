// SPDX-License-Identifier: Apache-2.0
package io.smqtt.rules.sink;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ApplicationMessage;
import io.smqtt.message.PublishProperties;
import io.smqtt.session.InProcess;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class RuleTrailTest {

    private static ApplicationMessage message(String trail, @Nullable String publisher) {
        return ApplicationMessage.builder("t")
                .properties(PublishProperties.builder()
                        .userProperty(RuleTrail.PROPERTY, trail)
                        .build())
                .build()
                .accepted(1, 0, publisher);
    }

    @Test
    void messageOfARuleEndsAtThatRuleAndAfterEight() {
        for (String publisher : new String[] {null, InProcess.PREFIX + "x", InProcess.bridge("b", false)}) {
            assertThat(RuleTrail.ends(message("a,b", publisher), "b")).isTrue();
            assertThat(RuleTrail.ends(message("a,b", publisher), "c")).isFalse();
            assertThat(RuleTrail.ends(message("1,2,3,4,5,6,7,8", publisher), "c"))
                    .isTrue();
        }
    }

    @Test
    void trailOfAClientIsIgnored() {
        ApplicationMessage forged = message(",,,,,,,", "client");

        assertThat(RuleTrail.ends(forged, "a")).isFalse();
        assertThat(RuleTrail.ends(message("a", "client"), "a")).isFalse();
        assertThat(RuleTrail.add(PublishProperties.EMPTY, forged, "a")).isEqualTo(RuleTrail.of("a"));
    }
}

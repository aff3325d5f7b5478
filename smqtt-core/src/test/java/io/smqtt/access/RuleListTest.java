// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.smqtt.access.RuleList.Actions;
import io.smqtt.access.RuleList.Rule;
import io.smqtt.message.QoS;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessDecision;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RuleListTest {

    private static final Map<String, String> NAMES = Map.of("clientid", "c1", "username", "alice");

    private static AccessDecision decide(RuleList rules, AccessAction action, String topic, int qos, boolean retain) {
        return rules.decide(Clients.client("c1", "alice"), action, topic, QoS.of(qos), retain);
    }

    @ParameterizedTest
    @CsvSource({
        "SUBSCRIBE, asked/#,   ALLOW",
        "RECEIVE,   asked/a,   CONTINUE",
        "PUBLISH,   asked/a,   CONTINUE",
        "SUBSCRIBE, sent/a,    CONTINUE",
        "RECEIVE,   sent/a,    ALLOW",
        "PUBLISH,   sent/a,    CONTINUE",
    })
    void subscribingAndDeliveriesCanNeedARuleEach(AccessAction action, String topic, String expected) {
        RuleList rules = RuleList.of(
                List.of(
                        new Rule(true, Actions.SUBSCRIBE_REQUEST, "asked/#"),
                        new Rule(true, Actions.DELIVERY, "sent/#")),
                NAMES);

        assertThat(decide(rules, action, topic, 0, false)).hasToString(expected);
    }

    @ParameterizedTest
    @CsvSource({
        "PUBLISH,   a/x,       0, false, ALLOW",
        "PUBLISH,   a/secret,  0, false, DENY",
        "PUBLISH,   b,         0, false, CONTINUE",
        "SUBSCRIBE, a/#,       0, false, ALLOW",
        "SUBSCRIBE, #,         0, false, CONTINUE",
        "RECEIVE,   a/secret,  0, false, DENY",
        "RECEIVE,   a/x,       0, false, ALLOW",
        "PUBLISH,   c1/alice,  0, false, ALLOW",
        "SUBSCRIBE, c1/alice,  0, false, CONTINUE",
        "PUBLISH,   low,       1, false, ALLOW",
        "PUBLISH,   low,       2, false, CONTINUE",
        "PUBLISH,   kept,      0, false, CONTINUE",
        "PUBLISH,   kept,      0, true,  ALLOW",
        "SUBSCRIBE, few,       2, false, DENY",
        "SUBSCRIBE, few,       1, false, ALLOW",
        "RECEIVE,   few,       2, false, ALLOW",
        "SUBSCRIBE, exact/#,   0, false, ALLOW",
        "SUBSCRIBE, exact/a,   0, false, CONTINUE",
        "RECEIVE,   exact/a,   0, false, CONTINUE",
    })
    void theFirstRuleThatAppliesDecides(AccessAction action, String topic, int qos, boolean retain, String expected) {
        RuleList rules = RuleList.of(
                List.of(
                        new Rule(false, Actions.ALL, "a/secret"),
                        new Rule(true, Actions.ALL, "a/#"),
                        new Rule(true, Actions.PUBLISH, "${clientid}/${username}"),
                        new Rule(true, Actions.PUBLISH, "low", false, 0b011, null),
                        new Rule(true, Actions.PUBLISH, "kept", false, Rule.ALL_LEVELS, true),
                        new Rule(false, Actions.SUBSCRIBE, "few", false, 0b100, null),
                        new Rule(true, Actions.SUBSCRIBE, "few"),
                        new Rule(true, Actions.SUBSCRIBE, "exact/#", true, Rule.ALL_LEVELS, null)),
                NAMES);

        assertThat(decide(rules, action, topic, qos, retain))
                .isEqualTo(
                        switch (expected) {
                            case "ALLOW" -> AccessDecision.ALLOW;
                            case "DENY" -> AccessDecision.DENY;
                            default -> AccessDecision.CONTINUE;
                        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"+", "#", "a/b", "$SYS", ""})
    void aValueThatCouldChangeTheFilterAllowsNothingAndDeniesMore(String hostile) {
        List<Rule> rules =
                List.of(new Rule(false, Actions.ALL, "x/${clientid}/y"), new Rule(true, Actions.ALL, "${clientid}/#"));
        RuleList compiled = RuleList.of(rules, Map.of("clientid", hostile));

        assertThat(compiled.size()).isEqualTo(1);
        assertThat(decide(compiled, AccessAction.PUBLISH, "x/any/y", 0, false)).isEqualTo(AccessDecision.DENY);
        assertThat(decide(compiled, AccessAction.PUBLISH, "any/a", 0, false)).isEqualTo(AccessDecision.CONTINUE);
    }

    @Test
    void aLiteralRuleThatDeniesIsWidenedToo() {
        Rule rule = new Rule(false, Actions.ALL, "x/${clientid}", true, Rule.ALL_LEVELS, null);
        RuleList compiled = RuleList.of(List.of(rule), Map.of("clientid", "a/b"));

        assertThat(decide(compiled, AccessAction.PUBLISH, "x/a/b", 0, false)).isEqualTo(AccessDecision.DENY);
        assertThat(decide(compiled, AccessAction.SUBSCRIBE, "x/#", 0, false)).isEqualTo(AccessDecision.DENY);
    }

    @Test
    void aRuleWithoutAValueIsLeftOut() {
        List<Rule> rules = List.of(new Rule(false, Actions.ALL, "${username}/#"));
        assertThat(RuleList.of(rules, Map.of()).size()).isZero();
    }

    @Test
    void malformedOrTooManyRulesAreRefused() {
        for (String topic : List.of("a/#/b", "a+", "${clientid", "")) {
            assertThatThrownBy(() -> RuleList.of(List.of(new Rule(true, Actions.ALL, topic)), NAMES))
                    .as(topic)
                    .isInstanceOf(IllegalArgumentException.class);
        }
        List<Rule> many = Collections.nCopies(RuleList.MAXIMUM_RULES + 1, new Rule(true, Actions.ALL, "a"));
        assertThatThrownBy(() -> RuleList.of(many, NAMES)).hasMessageContaining("1000");
    }
}

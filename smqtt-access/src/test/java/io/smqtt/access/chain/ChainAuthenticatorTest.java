// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access.chain;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.access.RuleList.Actions;
import io.smqtt.access.backend.AccessBackend;
import io.smqtt.access.backend.AccessRule;
import io.smqtt.access.backend.BackendAnswer;
import io.smqtt.access.backend.BackendRequest;
import io.smqtt.access.guard.ClientRefusedException;
import io.smqtt.access.guard.Guard;
import io.smqtt.config.AccessBackendConfig;
import io.smqtt.config.AccessBackendConfig.OnFailure;
import io.smqtt.config.AccessBackendConfigBuilder;
import io.smqtt.message.ProtocolVersion;
import io.smqtt.message.QoS;
import io.smqtt.message.ReasonCode;
import io.smqtt.spi.AccessAction;
import io.smqtt.spi.AccessChain;
import io.smqtt.spi.AccessDecision;
import io.smqtt.spi.Authentication;
import io.smqtt.spi.AuthenticationRequest;
import io.smqtt.spi.Authenticator;
import io.smqtt.spi.ClientIdentity;
import io.smqtt.spi.Grants;
import io.smqtt.spi.LifecycleObserver;
import io.smqtt.spi.Ticker;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.scheduler.VirtualTimeScheduler;

class ChainAuthenticatorTest {

    private static final Duration SOON = Duration.ofSeconds(20);
    private static final LifecycleObserver NOBODY = new LifecycleObserver() {};

    private final Map<String, Member> members = new LinkedHashMap<>();
    private final Map<String, Authenticator> builtIn = new LinkedHashMap<>();
    private final List<String> chain = new ArrayList<>();
    private final List<String> asked = new ArrayList<>();

    /** A backend whose answers a test gives. */
    private final class Scripted implements AccessBackend {

        private final String name;
        private final Set<Ability> abilities;
        private Mono<BackendAnswer> user = Mono.just(BackendAnswer.NOT_MINE);
        private Mono<List<AccessRule>> rules = Mono.just(List.of());
        private boolean local;

        Scripted(String name, Ability... abilities) {
            this.name = name;
            this.abilities = Set.of(abilities);
        }

        @Override
        public Set<Ability> abilities() {
            return abilities;
        }

        @Override
        public boolean isLocal() {
            return local;
        }

        @Override
        public Mono<BackendAnswer> authenticate(BackendRequest request) {
            asked.add(name);
            return user;
        }

        @Override
        public Mono<List<AccessRule>> rules(BackendRequest request) {
            asked.add(name + " rules of " + request.userName());
            assertThat(request.password()).isNull();
            return rules;
        }

        @Override
        public void close() {}
    }

    private Scripted add(String name, AccessBackendConfigBuilder config, AccessBackend.Ability... abilities) {
        AccessBackendConfig built = config.build();
        Scripted backend = new Scripted(name, abilities);
        members.put(name, new Member(name, built, backend, new Guard(name, built, Ticker.SYSTEM, NOBODY)));
        chain.add(name);
        return backend;
    }

    private Scripted users(String name) {
        return add(name, AccessBackendConfig.builder("x"), AccessBackend.Ability.USERS);
    }

    private Authentication connect(String userName) {
        builtIn.putIfAbsent(AccessChain.ANONYMOUS, request -> Authentication.CONTINUE.now());
        AuthenticationRequest request = new AuthenticationRequest(
                "c",
                userName,
                "pw".getBytes(StandardCharsets.UTF_8),
                new InetSocketAddress("192.0.2.1", 5),
                "tcp",
                ProtocolVersion.MQTT_5,
                null,
                false);
        return new ChainAuthenticator(chain, members, builtIn, listener -> SOON, Schedulers.parallel())
                .authenticate(request)
                .block(SOON);
    }

    private List<Authentication> connectAtLeisure(VirtualTimeScheduler timers) {
        return connectAtLeisure(timers, "ann");
    }

    private List<Authentication> connectAtLeisure(VirtualTimeScheduler timers, String userName) {
        builtIn.putIfAbsent(AccessChain.ANONYMOUS, request -> Authentication.CONTINUE.now());
        AuthenticationRequest request = new AuthenticationRequest(
                "c",
                userName,
                "pw".getBytes(StandardCharsets.UTF_8),
                new InetSocketAddress("192.0.2.1", 5),
                "tcp",
                ProtocolVersion.MQTT_5,
                null,
                false);
        List<Authentication> answers = new ArrayList<>();
        new ChainAuthenticator(chain, members, builtIn, listener -> Duration.ofSeconds(5), timers)
                .authenticate(request)
                .subscribe(answers::add);
        return answers;
    }

    /** With its own timeout alone the first one would have all of the time that the listener gives a client. */
    @Test
    void aBackendThatHangsLeavesTimeForTheNextOnes() {
        VirtualTimeScheduler timers = VirtualTimeScheduler.create();
        AccessBackendConfigBuilder next = AccessBackendConfig.builder("x").onFailure(OnFailure.NEXT);
        add("a", next, AccessBackend.Ability.USERS).user = Mono.never();
        add("b", next, AccessBackend.Ability.USERS).user = Mono.never();
        users("c").user = Mono.just(new BackendAnswer.Allow());
        List<Authentication> answers = connectAtLeisure(timers);

        timers.advanceTimeBy(Duration.ofMillis(2_999));
        assertThat(asked).containsExactly("a");
        timers.advanceTimeBy(Duration.ofMillis(1));
        assertThat(asked).containsExactly("a", "b");
        timers.advanceTimeBy(Duration.ofMillis(999));
        assertThat(answers).isEmpty();
        timers.advanceTimeBy(Duration.ofMillis(1));
        assertThat(asked).containsExactly("a", "b", "c");
        assertThat(grants(answers.get(0))).isEqualTo(Grants.NONE);
    }

    @Test
    void aBackendAfterWhichNoneIsAskedHasAllOfTheTime() {
        VirtualTimeScheduler timers = VirtualTimeScheduler.create();
        users("a").user = Mono.never(); // on-failure: refuse
        users("b").user = Mono.just(new BackendAnswer.Allow());
        List<Authentication> answers = connectAtLeisure(timers);

        timers.advanceTimeBy(Duration.ofMinutes(1));
        assertThat(answers).isEmpty();
        assertThat(asked).containsExactly("a");
    }

    private static AccessBackendConfigBuilder oneAtATime() {
        return AccessBackendConfig.builder("x").onFailure(OnFailure.NEXT).maxConcurrent(1);
    }

    /** The backend works, and was not asked. Others would decide about clients that it denies. */
    @Test
    void aRequestThatWaitsInTheLineIsNoFailureOfTheBackend() {
        VirtualTimeScheduler timers = VirtualTimeScheduler.create();
        add("a", oneAtATime(), AccessBackend.Ability.USERS).user = Mono.never();
        users("b").user = Mono.just(new BackendAnswer.Allow());
        List<Authentication> first = connectAtLeisure(timers, "ann");
        List<Authentication> second = connectAtLeisure(timers, "bob");

        timers.advanceTimeBy(Duration.ofMillis(2_999));
        assertThat(second).isEmpty();
        timers.advanceTimeBy(Duration.ofMillis(1));
        assertThat(second).containsExactly(new Authentication.Refused(ReasonCode.SERVER_BUSY));
        assertThat(first).isEmpty();
        timers.advanceTimeBy(Duration.ofMillis(1_000));
        assertThat(grants(first.get(0))).isEqualTo(Grants.NONE); // it was made, and not answered
        assertThat(asked).containsExactly("a", "b");
    }

    @Test
    void aRequestThatHasWaitedHasAFifthOfTheTimeAtLeast() {
        VirtualTimeScheduler timers = VirtualTimeScheduler.create();
        Scripted backend = add("a", oneAtATime(), AccessBackend.Ability.USERS);
        users("b").user = Mono.just(new BackendAnswer.Allow());
        BackendAnswer allow = new BackendAnswer.Allow(true, Map.of(), null, List.of());
        backend.user = Mono.delay(Duration.ofMillis(2_999), timers).thenReturn(allow);
        connectAtLeisure(timers, "ann");
        List<Authentication> waited = connectAtLeisure(timers, "bob");
        List<Authentication> last = connectAtLeisure(timers, "cid");

        backend.user = Mono.delay(Duration.ofMillis(1_000), timers).thenReturn(allow);
        timers.advanceTimeBy(Duration.ofMillis(2_999));
        assertThat(asked).containsExactly("a", "a");
        timers.advanceTimeBy(Duration.ofMillis(1_000));
        assertThat(grants(waited.get(0))).isEqualTo(Grants.NONE.withSuperuser());
        assertThat(last).containsExactly(new Authentication.Refused(ReasonCode.SERVER_BUSY));
        assertThat(asked).containsExactly("a", "a");
    }

    /** Also where the one before has failed in its last moment. */
    @Test
    void aRequestThatIsMadeLateTakesNothingOfTheTimeOfThoseBehindIt() {
        VirtualTimeScheduler timers = VirtualTimeScheduler.create();
        Scripted backend = add("a", oneAtATime(), AccessBackend.Ability.USERS);
        Scripted second = add("b", oneAtATime(), AccessBackend.Ability.USERS);
        users("c").user = Mono.just(new BackendAnswer.Allow());
        backend.user = Mono.delay(Duration.ofMillis(1_999), timers).thenReturn(BackendAnswer.DENY);
        connectAtLeisure(timers, "ann");
        List<Authentication> waited = connectAtLeisure(timers, "bob");
        backend.user = Mono.never();
        second.user = Mono.never();

        timers.advanceTimeBy(Duration.ofMillis(2_999));
        assertThat(asked).containsExactly("a", "a");
        timers.advanceTimeBy(Duration.ofMillis(1));
        assertThat(asked).containsExactly("a", "a", "b");
        timers.advanceTimeBy(Duration.ofMillis(999));
        assertThat(waited).isEmpty();
        timers.advanceTimeBy(Duration.ofMillis(1));
        assertThat(grants(waited.get(0))).isEqualTo(Grants.NONE);
        assertThat(asked).containsExactly("a", "a", "b", "c");
    }

    /** It has no limit itself, because none is asked after its failure. */
    @Test
    void whatAStepWithoutLimitLeavesIsSharedEqually() {
        VirtualTimeScheduler timers = VirtualTimeScheduler.create();
        users("a").user = Mono.delay(Duration.ofMillis(4_400), timers).thenReturn(BackendAnswer.NOT_MINE);
        AccessBackendConfigBuilder next = AccessBackendConfig.builder("x").onFailure(OnFailure.NEXT);
        add("b", next, AccessBackend.Ability.USERS).user = Mono.never();
        add("c", next, AccessBackend.Ability.USERS).user = Mono.never();
        users("d").user = Mono.just(new BackendAnswer.Allow());
        List<Authentication> answers = connectAtLeisure(timers);

        timers.advanceTimeBy(Duration.ofMillis(4_599));
        assertThat(asked).containsExactly("a", "b");
        timers.advanceTimeBy(Duration.ofMillis(1));
        assertThat(asked).containsExactly("a", "b", "c");
        timers.advanceTimeBy(Duration.ofMillis(200));
        assertThat(asked).containsExactly("a", "b", "c", "d");
        assertThat(grants(answers.get(0))).isEqualTo(Grants.NONE);
    }

    @Test
    void eachOfManyBackendsHasAnEqualPart() {
        VirtualTimeScheduler timers = VirtualTimeScheduler.create();
        AccessBackendConfigBuilder next = AccessBackendConfig.builder("x").onFailure(OnFailure.NEXT);
        for (int i = 0; i < 9; i++) {
            add("b" + i, next, AccessBackend.Ability.USERS).user = Mono.never();
        }
        users("last").user = Mono.just(new BackendAnswer.Allow());
        List<Authentication> answers = connectAtLeisure(timers);

        for (int i = 1; i <= 9; i++) {
            assertThat(asked).hasSize(i);
            timers.advanceTimeBy(Duration.ofMillis(500));
        }
        assertThat(grants(answers.get(0))).isEqualTo(Grants.NONE);
    }

    /** The steps before may have used all of the time. */
    @Test
    void aBackendInMemoryIsAskedHoweverLateItIs() {
        VirtualTimeScheduler timers = VirtualTimeScheduler.create();
        users("a").user = Mono.delay(Duration.ofMillis(4_500), timers).thenReturn(BackendAnswer.NOT_MINE);
        Scripted token =
                add("b", AccessBackendConfig.builder("x").onFailure(OnFailure.NEXT), AccessBackend.Ability.USERS);
        token.local = true;
        token.user = Mono.delay(Duration.ofMillis(10), timers)
                .thenReturn(new BackendAnswer.Allow(true, Map.of(), null, List.of()));
        users("c").user = Mono.just(new BackendAnswer.Allow());
        List<Authentication> answers = connectAtLeisure(timers);

        timers.advanceTimeBy(Duration.ofMillis(4_510));
        assertThat(grants(answers.get(0))).isEqualTo(Grants.NONE.withSuperuser());
        assertThat(asked).containsExactly("a", "b");
    }

    @Test
    void anAnswerThatIsKnownNeedsNoTimer() {
        VirtualTimeScheduler timers = VirtualTimeScheduler.create();
        add("a", oneAtATime(), AccessBackend.Ability.USERS).user = Mono.just(new BackendAnswer.Allow());
        users("b");
        connectAtLeisure(timers);
        long before = timers.getScheduledTaskCount();

        assertThat(connectAtLeisure(timers)).hasSize(1);
        assertThat(timers.getScheduledTaskCount()).isEqualTo(before);
        assertThat(asked).containsExactly("a");
    }

    /** Else an overload would open what these rules deny. */
    @Test
    void rulesForWhichTooManyWaitRefuseTheClientAlsoIfFailuresAreIgnored() {
        VirtualTimeScheduler timers = VirtualTimeScheduler.create();
        users("a").user = Mono.just(new BackendAnswer.Allow());
        add("b", oneAtATime().maxWaiting(0), AccessBackend.Ability.RULES).rules = Mono.never();
        assertThat(connectAtLeisure(timers, "ann")).isEmpty();

        assertThat(connectAtLeisure(timers, "bob")).containsExactly(new Authentication.Refused(ReasonCode.SERVER_BUSY));
    }

    private static Grants grants(Authentication answer) {
        assertThat(answer).isInstanceOf(Authentication.Accepted.class);
        return ((Authentication.Accepted) answer).grants();
    }

    private static AccessDecision decide(Grants grants, String topic) {
        ClientIdentity client = new ClientIdentity(
                "c",
                "ann",
                new InetSocketAddress("192.0.2.1", 5),
                "tcp",
                ProtocolVersion.MQTT_5,
                Set.of(),
                false,
                grants);
        assertThat(grants.rules()).isNotNull();
        return grants.rules().decide(client, AccessAction.PUBLISH, topic, QoS.AT_MOST_ONCE, false);
    }

    @Test
    void theFirstBackendThatKnowsTheClientDecides() {
        users("a");
        users("b").user = Mono.just(BackendAnswer.DENY);
        users("c").user = Mono.just(new BackendAnswer.Allow());

        assertThat(connect("ann")).isEqualTo(Authentication.refused());
        assertThat(asked).containsExactly("a", "b");
    }

    @Test
    void aClientThatNobodyKnowsIsNotDecidedAbout() {
        users("a");

        assertThat(connect("ann")).isEqualTo(Authentication.CONTINUE);
    }

    @Test
    void builtInAuthenticatorsHaveTheirPlaceInTheChain() {
        users("a");
        chain.add("password-file");
        builtIn.put("password-file", request -> Authentication.accepted("ann").now());
        users("b");

        assertThat(grants(connect("ann"))).isEqualTo(Grants.NONE);
        assertThat(asked).containsExactly("a");
    }

    @Test
    void aFailureRefusesTheClient() {
        users("a").user = Mono.error(new IllegalStateException("down"));
        users("b").user = Mono.just(new BackendAnswer.Allow());

        assertThat(connect("ann")).isEqualTo(new Authentication.Refused(ReasonCode.SERVER_UNAVAILABLE));
        assertThat(asked).containsExactly("a");
    }

    @Test
    void anEmptyAnswerAndAnExceptionAreFailures() {
        users("a").user = Mono.empty();
        assertThat(connect("ann")).isEqualTo(new Authentication.Refused(ReasonCode.SERVER_UNAVAILABLE));

        members.clear();
        chain.clear();
        users("b").user = Mono.defer(() -> {
            throw new IllegalStateException("bug");
        });
        assertThat(connect("ann")).isEqualTo(new Authentication.Refused(ReasonCode.SERVER_UNAVAILABLE));
    }

    @Test
    void afterAFailureTheNextIsAskedIfItIsConfiguredSo() {
        add("a", AccessBackendConfig.builder("x").onFailure(OnFailure.NEXT), AccessBackend.Ability.USERS).user =
                Mono.error(new IllegalStateException("down"));
        users("b").user = Mono.just(new BackendAnswer.Allow());

        assertThat(grants(connect("ann"))).isEqualTo(Grants.NONE);
        assertThat(asked).containsExactly("a", "b");
    }

    @Test
    void aBackendThatFailsAllTheTimeIsBusy() {
        users("a").user = Mono.error(new IllegalStateException("down"));
        for (int i = 0; i < 5; i++) {
            connectAs("u" + i);
        }

        assertThat(connectAs("v")).isEqualTo(new Authentication.Refused(ReasonCode.SERVER_BUSY));
        assertThat(asked).hasSize(5);
    }

    private Authentication connectAs(String name) {
        return connect(name);
    }

    @Test
    void onlyUsersWithThePrefixAreAskedAbout() {
        add("a", AccessBackendConfig.builder("x").userPrefix("dev-"), AccessBackend.Ability.USERS).user =
                Mono.just(new BackendAnswer.Allow());

        assertThat(connect("ann")).isEqualTo(Authentication.CONTINUE);
        assertThat(connect(null)).isEqualTo(Authentication.CONTINUE);
        assertThat(grants(connect("dev-1"))).isEqualTo(Grants.NONE);
        assertThat(asked).containsExactly("a");
    }

    @Test
    void rulesOfTheAnswerComeBeforeThoseOfOtherBackends() {
        users("a").user = Mono.just(new BackendAnswer.Allow(
                false, Map.of("site", "s1"), null, List.of(AccessRule.allow(Actions.ALL, "own/${client_attrs.site}"))));
        add("b", AccessBackendConfig.builder("x").checks(List.of("acl")), AccessBackend.Ability.RULES).rules =
                Mono.just(List.of(AccessRule.allow(Actions.ALL, "more/${username}")));

        Grants grants = grants(connect("ann"));

        assertThat(decide(grants, "own/s1")).isEqualTo(AccessDecision.ALLOW);
        assertThat(decide(grants, "more/ann")).isEqualTo(AccessDecision.ALLOW);
        assertThat(decide(grants, "other")).isEqualTo(AccessDecision.CONTINUE);
        assertThat(grants.attributes()).containsEntry("site", "s1");
        assertThat(asked).containsExactly("a", "b rules of ann");
    }

    @Test
    void clientsOfBuiltInAuthenticatorsGetTheirRulesToo() {
        add("b", AccessBackendConfig.builder("x").checks(List.of("acl")), AccessBackend.Ability.RULES).rules =
                Mono.just(List.of(AccessRule.allow(Actions.ALL, "a")));
        builtIn.put(
                AccessChain.ANONYMOUS, request -> Authentication.accepted(null).now());

        assertThat(decide(grants(connect(null)), "a")).isEqualTo(AccessDecision.ALLOW);
    }

    @Test
    void aSuperuserHasNoRules() {
        users("a").user = Mono.just(new BackendAnswer.Allow(true, Map.of(), null, List.of()));
        add("b", AccessBackendConfig.builder("x"), AccessBackend.Ability.RULES);

        assertThat(grants(connect("root"))).isEqualTo(Grants.NONE.withSuperuser());
        assertThat(asked).containsExactly("a");
    }

    @Test
    void rulesThatCannotBeFetchedOrUsedRefuseTheClient() {
        users("a").user = Mono.just(new BackendAnswer.Allow());
        Scripted rules =
                add("b", AccessBackendConfig.builder("x").cacheTtl(Duration.ZERO), AccessBackend.Ability.RULES);

        rules.rules = Mono.error(new IllegalStateException("down"));
        assertThat(connect("ann")).isEqualTo(new Authentication.Refused(ReasonCode.SERVER_UNAVAILABLE));
        rules.rules = Mono.just(List.of(AccessRule.allow(Actions.ALL, "a/#/b")));
        assertThat(connect("ann")).isEqualTo(new Authentication.Refused(ReasonCode.SERVER_UNAVAILABLE));
    }

    @Test
    void aClientThatIsServedWithoutTheRulesOfABackendLacksThemOnlyUntilItAnswers() {
        users("a").user = Mono.just(new BackendAnswer.Allow());
        AccessBackendConfigBuilder config = AccessBackendConfig.builder("x").onFailure(OnFailure.NEXT);
        Scripted rules = add("b", config, AccessBackend.Ability.RULES);
        rules.rules = Mono.error(new IllegalStateException("down"));

        FetchedRules without = (FetchedRules) grants(connect("ann")).rules();
        assertThat(without.isComplete()).isFalse();
        rules.rules = Mono.just(List.of());
        assertThat(((FetchedRules) grants(connect("ann")).rules()).isComplete()).isTrue();
    }

    @Test
    void aClientWithoutRulesBecauseOfItsValuesIsRefusedAlsoIfFailuresAreIgnored() {
        users("a").user = Mono.just(new BackendAnswer.Allow());
        AccessBackendConfigBuilder config = AccessBackendConfig.builder("x").onFailure(OnFailure.NEXT);
        Scripted rules = add("b", config, AccessBackend.Ability.RULES);
        rules.rules = Mono.error(new ClientRefusedException("a value that fits no column"));

        for (int i = 0; i < 40; i++) {
            assertThat(connect("u" + i)).isEqualTo(new Authentication.Refused(ReasonCode.NOT_AUTHORIZED));
        }
        rules.rules = Mono.just(List.of(AccessRule.allow(Actions.ALL, "a")));
        assertThat(decide(grants(connect("ann")), "a")).isEqualTo(AccessDecision.ALLOW);
    }

    @Test
    void aBackendCanRefuseAClientInsteadOfTheNextOne() {
        add("a", AccessBackendConfig.builder("x").onFailure(OnFailure.NEXT), AccessBackend.Ability.USERS).user =
                Mono.error(new ClientRefusedException("a value that fits no column"));
        users("b").user = Mono.just(new BackendAnswer.Allow());

        assertThat(connect("ann")).isEqualTo(Authentication.refused());
        assertThat(asked).containsExactly("a");
    }

    @Test
    void rulesOfAnAnswerCountOnlyWithTheCheckOfRules() {
        add("a", AccessBackendConfig.builder("x").checks(List.of("user")), AccessBackend.Ability.USERS).user =
                Mono.just(new BackendAnswer.Allow(false, Map.of(), null, List.of()));

        assertThat(grants(connect("ann")).rules()).isNull();
    }

    @Test
    void changedRulesAreInForceAtOnce() {
        users("a").user = Mono.just(new BackendAnswer.Allow());
        add("b", AccessBackendConfig.builder("x"), AccessBackend.Ability.RULES);
        Grants grants = grants(connect("ann"));
        FetchedRules rules = (FetchedRules) grants.rules();

        assertThat(decide(grants, "a")).isEqualTo(AccessDecision.CONTINUE);
        assertThat(rules.replaceFetched(rules.beginFetch(), rules.fetched())).isFalse();
        List<AccessRule> changed = List.of(AccessRule.allow(Actions.ALL, "a"));
        assertThat(rules.replaceFetched(rules.beginFetch(), List.of(new MemberRules(members.get("b"), changed))))
                .isTrue();
        assertThat(decide(grants, "a")).isEqualTo(AccessDecision.ALLOW);
    }
}

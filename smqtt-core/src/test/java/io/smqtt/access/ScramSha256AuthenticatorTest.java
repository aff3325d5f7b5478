// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import static org.assertj.core.api.Assertions.assertThat;

import io.smqtt.message.ReasonCode;
import io.smqtt.spi.EnhancedAuthenticator;
import io.smqtt.spi.EnhancedAuthenticator.Step;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import javax.crypto.Mac;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import javax.crypto.spec.SecretKeySpec;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ScramSha256AuthenticatorTest {

    private static final Step BAD = new Step.Failure(ReasonCode.BAD_USER_NAME_OR_PASSWORD);
    private static final Step MALFORMED = new Step.Failure(ReasonCode.PROTOCOL_ERROR);

    private final AtomicReference<PasswordTable> users = new AtomicReference<>(table("alice", "wonder land"));
    private final EnhancedAuthenticator scram = new ScramSha256Authenticator(users::get);

    /** The exchange of RFC 7677, section 3. */
    @Test
    void speaksTheExampleOfTheRfc() {
        byte[] salt = Base64.getDecoder().decode("W22ZaJ0SNY7soEsUEjb6gQ==");
        PasswordHash pencil = PasswordHash.ScramSha256.of(utf8("pencil"), salt, 4_096);
        EnhancedAuthenticator.Exchange exchange = new ScramSha256Authenticator(
                        () -> new PasswordTable(Map.of("user", pencil)), () -> "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0")
                .begin(Clients.login(null, (String) null));

        assertThat(challenge(exchange, "n,,n=user,r=rOprNGfwEbeRWgbNEkqO"))
                .isEqualTo("r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096");
        Step last = step(
                exchange,
                "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
                        + "p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=");

        assertThat(last).isInstanceOfSatisfying(Step.Success.class, success -> {
            assertThat(success.userName()).isEqualTo("user");
            assertThat(text(success.data())).isEqualTo("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
        });
    }

    @Test
    void isCalledByItsNameOnTheWire() {
        assertThat(scram.method()).isEqualTo("SCRAM-SHA-256");
    }

    @Test
    void clientAndBrokerProveThePasswordToEachOther() {
        Client client = new Client("alice", "wonder land");

        Step last = run(client);

        assertThat(last).isInstanceOfSatisfying(Step.Success.class, success -> {
            assertThat(success.userName()).isEqualTo("alice");
            assertThat(text(success.data())).isEqualTo(client.expectedServerFinal());
        });
    }

    @Test
    void aWrongPasswordAndAnUnknownUserFailAlike() {
        assertThat(run(new Client("alice", "wonderland"))).isEqualTo(BAD);
        assertThat(run(new Client("mallory", "wonder land"))).isEqualTo(BAD);
    }

    @Test
    void anUnknownUserGetsTheSameLikelySaltEachTime() {
        String[] first = new Client("mallory", "x").challengedBy(scram);
        String[] second = new Client("mallory", "x").challengedBy(scram);
        String[] other = new Client("trudy", "x").challengedBy(scram);
        String[] known = new Client("alice", "x").challengedBy(scram);

        assertThat(first[1]).isEqualTo(second[1]).isNotEqualTo(other[1]).hasSameSizeAs(known[1]);
        assertThat(first[2]).isEqualTo(known[2]);
        assertThat(first[0]).isNotEqualTo(second[0]);
    }

    @Test
    void usersWithAHashOfAnotherKindCannotUseScram() {
        users.set(new PasswordTable(Map.of("bob", PasswordHash.Pbkdf2Sha512.of(utf8("pw"), utf8("salt"), 10))));

        assertThat(run(new Client("bob", "pw"))).isEqualTo(BAD);
    }

    @Test
    void withoutAnyScramUserTheExchangeStillGoesToItsEnd() {
        users.set(new PasswordTable(Map.of()));

        assertThat(run(new Client("mallory", "x"))).isEqualTo(BAD);
    }

    @Test
    void namesWithCommaEqualsSignAndAccentsArrive() {
        users.set(table("a=b,c é", "pw"));

        assertThat(run(new Client("a=b,c e\u0301", "pw"))).isInstanceOf(Step.Success.class);
    }

    @Test
    void theUserNameOfTheConnectMustBeTheSame() {
        Client client = new Client("alice", "wonder land");

        assertThat(step(scram.begin(Clients.login("bob", (String) null)), client.first()))
                .isEqualTo(BAD);
        assertThat(step(scram.begin(Clients.login("alice", (String) null)), client.first()))
                .isInstanceOf(Step.Challenge.class);
    }

    @Test
    void aUserWhoIsRemovedDuringTheExchangeIsRefused() {
        Client client = new Client("alice", "wonder land");
        EnhancedAuthenticator.Exchange exchange = begin();
        String challenge = challenge(exchange, client.first());

        users.set(table("alice", "another"));

        assertThat(step(exchange, client.last(challenge))).isEqualTo(BAD);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "n",
                "n,,",
                "n,,n=alice",
                "n,,n=alice,",
                "n,,n=alice,r=",
                "n,,n=,r=abc",
                "n,,r=abc,n=alice",
                "p=tls-unique,,n=alice,r=abc",
                "n,a=other,n=alice,r=abc",
                "n,,m=ext,n=alice,r=abc",
                "x,,n=alice,r=abc",
                "n,,n=al=ice,r=abc",
                "n,,n=alice=2,r=abc",
                "n,,n=alice,r=a bc",
                "n,,n=alice,r=ä",
                "n,,n=a\u0007,r=abc"
            })
    void otherFirstMessagesAreMalformed(String message) {
        EnhancedAuthenticator.Exchange exchange = begin();

        assertThat(step(exchange, message)).isEqualTo(MALFORMED);
        assertThat(step(exchange, "n,,n=alice,r=abc")).isEqualTo(MALFORMED);
    }

    @Test
    void noDataAndBytesThatAreNotUtf8AndTooManyBytesAreMalformed() {
        assertThat(begin().next(null).block()).isEqualTo(MALFORMED);
        assertThat(begin().next(new byte[] {'n', ',', ',', (byte) 0xFF}).block())
                .isEqualTo(MALFORMED);
        assertThat(step(begin(), "n,,n=alice,r=" + "x".repeat(9_000))).isEqualTo(MALFORMED);
        assertThat(step(begin(), "n,,n=alice,r=" + "x".repeat(600))).isEqualTo(MALFORMED);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "c=biws", "c=biws,r=NONCE", "r=NONCE,p=AAAA", "c=biws,p=AAAA"})
    void otherLastMessagesAreMalformed(String message) {
        EnhancedAuthenticator.Exchange exchange = begin();
        String nonce = challenge(exchange, "n,,n=alice,r=abc").split(",")[0].substring(2);

        assertThat(step(exchange, message.replace("NONCE", nonce))).isEqualTo(MALFORMED);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "c=eSws,r=NONCE,p=PROOF",
                "c=biws,r=abc,p=PROOF",
                "c=biws,r=NONCEx,p=PROOF",
                "c=biws,r=NONCE,p=AAAA",
                "c=biws,r=NONCE,p=!",
                "c=biws,r=NONCE,p="
            })
    void aLastMessageThatDoesNotFitIsRefused(String message) {
        EnhancedAuthenticator.Exchange exchange = begin();
        Client client = new Client("alice", "wonder land");
        String challenge = challenge(exchange, client.first());
        String good = client.last(challenge);
        String nonce = challenge.split(",")[0].substring(2);
        String proof = good.substring(good.indexOf(",p=") + 3);

        assertThat(step(exchange, message.replace("NONCE", nonce).replace("PROOF", proof)))
                .isEqualTo(BAD);
        assertThat(step(exchange, good)).isEqualTo(MALFORMED);
    }

    @Test
    void anyBytesGiveAnAnswer() {
        Random random = new Random(20_260_716);
        byte[] seed = utf8("n,,n=alice,r=rOprNGfwEbeRWgbNEkqO");
        int challenges = 0;
        for (int i = 0; i < 5_000; i++) {
            byte[] data = seed.clone();
            for (int j = random.nextInt(3); j >= 0; j--) {
                data[random.nextInt(data.length)] = (byte) random.nextInt();
            }
            EnhancedAuthenticator.Exchange exchange = begin();
            Step step = exchange.next(data).block();
            challenges += step instanceof Step.Challenge ? 1 : 0;
            assertThat(exchange.next(data).block()).isInstanceOf(Step.Failure.class);
        }
        assertThat(challenges).isBetween(100, 4_900);
    }

    private EnhancedAuthenticator.Exchange begin() {
        return scram.begin(Clients.login(null, (String) null));
    }

    private Step run(Client client) {
        EnhancedAuthenticator.Exchange exchange = begin();
        return step(exchange, client.last(challenge(exchange, client.first())));
    }

    private static Step step(EnhancedAuthenticator.Exchange exchange, String message) {
        return exchange.next(utf8(message)).block(Duration.ofSeconds(30));
    }

    private static String challenge(EnhancedAuthenticator.Exchange exchange, String message) {
        return text(((Step.Challenge) step(exchange, message)).data());
    }

    private static PasswordTable table(String userName, String password) {
        return new PasswordTable(
                Map.of(userName, PasswordHash.ScramSha256.of(utf8(password), utf8("sixteen bytes!!!"), 4_096)));
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(byte @Nullable [] utf8) {
        return new String(utf8 == null ? new byte[0] : utf8, StandardCharsets.UTF_8);
    }

    /** A client by RFC 5802, section 3, that shares no code with the broker. */
    private static final class Client {

        private final String bare;
        private final String password;
        private String authMessage = "";
        private byte[] salted = {};

        Client(String userName, String password) {
            bare = "n=" + userName.replace("=", "=3D").replace(",", "=2C") + ",r=fyko+d2lbbFgONRv9qkxdawL";
            this.password = password;
        }

        String first() {
            return "n,," + bare;
        }

        String[] challengedBy(EnhancedAuthenticator scram) {
            return challenge(scram.begin(Clients.login(null, (String) null)), first())
                    .split(",");
        }

        String last(String serverFirst) {
            String[] parts = serverFirst.split(",");
            assertThat(parts[0]).startsWith("r=fyko+d2lbbFgONRv9qkxdawL").hasSizeGreaterThan(40);
            byte[] salt = Base64.getDecoder().decode(parts[1].substring(2));
            salted = pbkdf2(password, salt, Integer.parseInt(parts[2].substring(2)));
            String withoutProof = "c=biws," + parts[0];
            authMessage = bare + ',' + serverFirst + ',' + withoutProof;
            byte[] proof = hmac(salted, "Client Key");
            byte[] signature = hmac(sha256(proof), authMessage);
            for (int i = 0; i < proof.length; i++) {
                proof[i] ^= signature[i];
            }
            return withoutProof + ",p=" + Base64.getEncoder().encodeToString(proof);
        }

        String expectedServerFinal() {
            return "v=" + Base64.getEncoder().encodeToString(hmac(hmac(salted, "Server Key"), authMessage));
        }

        private static byte[] pbkdf2(String password, byte[] salt, int iterations) {
            try {
                return SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256")
                        .generateSecret(new PBEKeySpec(password.toCharArray(), salt, iterations, 256))
                        .getEncoded();
            } catch (GeneralSecurityException e) {
                throw new AssertionError(e);
            }
        }

        private static byte[] hmac(byte[] key, String text) {
            try {
                Mac mac = Mac.getInstance("HmacSHA256");
                mac.init(new SecretKeySpec(key, "HmacSHA256"));
                return mac.doFinal(utf8(text));
            } catch (GeneralSecurityException e) {
                throw new AssertionError(e);
            }
        }

        private static byte[] sha256(byte[] data) {
            try {
                return MessageDigest.getInstance("SHA-256").digest(data);
            } catch (GeneralSecurityException e) {
                throw new AssertionError(e);
            }
        }
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.smqtt.admin.account;

import io.smqtt.admin.account.LoginTokens.Login;
import io.smqtt.admin.object.Expected;
import io.smqtt.admin.object.LiveObject;
import io.smqtt.admin.object.LiveObjects;
import io.smqtt.admin.object.ObjectKind;
import io.smqtt.admin.object.ObjectLimits;
import io.smqtt.admin.object.ObjectRefusedException;
import io.smqtt.admin.object.ObjectWatcher;
import io.smqtt.spi.Ticker;
import io.smqtt.thread.AnyThread;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * The users and API keys of the management port, and who has logged in at this node. Users and keys are live objects; a login token is
 * valid at the node that made it.
 */
@AnyThread
public final class Accounts {

    /** The user that a broker without users has until there is one. */
    public static final String FIRST_USER = "admin";

    private static final Logger LOG = LoggerFactory.getLogger(Accounts.class);
    private static final int KEY_BYTES = 12;
    private static final int SECRET_BYTES = 32;
    private static final int FIRST_BYTES = 15;
    private static final String NO_HASH = "";

    private final ObjectKind<User> users;
    private final ObjectKind<ApiKey> keys;
    private final Passwords passwords;
    private final LoginTokens tokens;
    private final WrongLogins wrong;
    private final InstantSource clock;
    private final Map<String, String> namesByKey = new ConcurrentHashMap<>();
    private volatile @Nullable String firstPassword;
    private volatile boolean hadUsers;

    /**
     * Creates the accounts.
     *
     * @param objects has users and keys
     * @param ticker the monotonic clock of logins
     * @param clock the clock of expiry
     * @param iterations the iterations of password hashes
     */
    public Accounts(LiveObjects objects, Ticker ticker, InstantSource clock, int iterations) {
        this.clock = clock;
        users = objects.kind("user", new Formats.Users(), ObjectLimits.FEW, Accounts::keepAdministrator);
        keys = objects.kind("api_key", new Formats.Keys(), ObjectLimits.FEW, Accounts::keepKeysApart);
        passwords = new Passwords(iterations);
        tokens = new LoginTokens(ticker);
        wrong = new WrongLogins(ticker);
        keys.watch(new KeyNames());
        users.watch(new FirstUser());
    }

    /** Finds the name of an API key by its public half. */
    private final class KeyNames implements ObjectWatcher<ApiKey> {

        @Override
        public void changed(LiveObject<ApiKey> object) {
            removed(object.id());
            namesByKey.put(object.value().key(), object.id());
        }

        @Override
        public void removed(String id) {
            namesByKey.values().removeIf(id::equals);
        }
    }

    /** Ends the first password for good: it must not be valid again when there are no users later. */
    private final class FirstUser implements ObjectWatcher<User> {

        @Override
        public void changed(LiveObject<User> object) {
            hadUsers = true;
        }

        @Override
        public void removed(String id) {
            // the first password stays invalid
        }
    }

    private static void keepAdministrator(Map<String, User> before, Map<String, User> after) {
        if (hasAdministrator(before) && !hasAdministrator(after)) {
            throw new IllegalArgumentException("the last administrator stays");
        }
    }

    private static boolean hasAdministrator(Map<String, User> users) {
        return users.values().stream().anyMatch(user -> user.role() == Role.ADMINISTRATOR);
    }

    private static void keepKeysApart(Map<String, ApiKey> before, Map<String, ApiKey> after) {
        if (after.values().stream().map(ApiKey::key).distinct().count() < after.size()) {
            throw new IllegalArgumentException("two API keys have the same key");
        }
    }

    /**
     * Returns the users.
     *
     * @return all users by name
     */
    public ObjectKind<User> users() {
        return users;
    }

    /**
     * Returns the API keys.
     *
     * @return all keys by name
     */
    public ObjectKind<ApiKey> keys() {
        return keys;
    }

    /** Logs a password for the first login, if there are no users. It is valid until there is a user, or the broker stops. */
    public void printFirstPassword() {
        if (hadUsers) {
            return;
        }
        String password = Secrets.random(FIRST_BYTES);
        firstPassword = password;
        LOG.info(
                "the management port has no users: log in as {} with the password {} and change it; it is valid until"
                        + " there is a user",
                FIRST_USER,
                password);
    }

    /** The password of the first user while it is valid; null before and afterwards. */
    @Nullable
    String firstPassword() {
        return hadUsers ? null : firstPassword;
    }

    /**
     * A login.
     *
     * @param token the login token; kept as a hash only
     * @param role the role of the user
     * @param first whether this is the first user, who must change his password
     * @param device the secret of the device, if one was asked for; kept as a hash only
     */
    public record LoggedIn(
            String token,
            Role role,
            boolean first,
            @Nullable String device) {

        /** {@return the form without the token} */
        @Override
        public String toString() {
            return "LoggedIn[role=" + role + "]";
        }
    }

    /** A login is refused. */
    public static final class LoginRefusedException extends RuntimeException {

        private static final long serialVersionUID = 1L;
        private final transient Callers.Refusal refusal;

        LoginRefusedException(Callers.Refusal refusal) {
            super(refusal.message(), null, false, false);
            this.refusal = refusal;
        }

        /**
         * Returns the reason.
         *
         * @return a refusal with status 401, 429 or 503
         */
        public Callers.Refusal refusal() {
            return refusal;
        }
    }

    /**
     * Logs a user in. Nothing happens before subscription.
     *
     * @param name the user
     * @param password the password
     * @param source where the request comes from
     * @return the login; fails with {@link LoginRefusedException}
     */
    public Mono<LoggedIn> login(String name, String password, LoginSource source) {
        return Mono.defer(() -> login(name, password, source, wrong.place(name, source)));
    }

    private Mono<LoggedIn> login(String name, String password, LoginSource source, WrongLogins.Place place) {
        return verify(name, password, place).map(hash -> {
            LiveObject<User> user = users.get(name);
            boolean first = hash.equals(NO_HASH);
            if (user == null && !first) { // deleted while the password was checked
                throw wrongPassword();
            }
            Role role = user == null ? Role.ADMINISTRATOR : user.value().role();
            String device = source.device() == null || place.own() ? source.device() : wrong.newDevice(name);
            return new LoggedIn(tokens.issue(name, hash), role, first, device);
        });
    }

    /** Checks a password; returns its hash, which is empty for the first password. */
    private Mono<String> verify(String name, String password, WrongLogins.Place place) {
        return Mono.defer(() -> {
            Duration wait = wrong.wait(place);
            if (wait != null) {
                return Mono.error(refused(429, "LOGIN_LOCKED", "too many wrong logins; wait", wait));
            }
            wrong.begin(place);
            LiveObject<User> user = users.get(name);
            String first = user == null && name.equals(FIRST_USER) ? firstPassword() : null;
            String hash = user == null ? null : user.value().passwordHash();
            Mono<Boolean> checked =
                    first == null ? passwords.matches(password, hash) : Mono.just(Secrets.areEqual(first, password));
            return checked.onErrorMap(Passwords.BusyException.class, busy -> {
                        wrong.cancel(place);
                        return refused(503, "SERVICE_UNAVAILABLE", "too many logins at a time", Duration.ofSeconds(1));
                    })
                    .map(matches -> {
                        if (!matches) {
                            throw wrongPassword();
                        }
                        wrong.succeeded(place);
                        return hash == null ? NO_HASH : hash;
                    });
        });
    }

    private static LoginRefusedException wrongPassword() {
        return refused(401, "BAD_USERNAME_OR_PWD", "wrong user name or password", null);
    }

    private static LoginRefusedException refused(int status, String code, String message, @Nullable Duration wait) {
        return new LoginRefusedException(new Callers.Refusal(status, code, message, wait));
    }

    /**
     * Ends a login.
     *
     * @param token its token
     * @return false if there is none
     */
    public boolean logout(String token) {
        return tokens.end(LoginTokens.key(token));
    }

    /**
     * The login behind a token, for another node.
     *
     * @param user the name of the user
     * @param passwordHash the hash of the password at the time of the login
     */
    public record Lent(String user, String passwordHash) {

        /** {@return the form without the hash} */
        @Override
        public String toString() {
            return "Lent[user=" + user + "]";
        }
    }

    /**
     * Names a token without it.
     *
     * @param token a login token
     * @return its key
     */
    public static String keyOf(String token) {
        return LoginTokens.key(token);
    }

    /**
     * Finds a login that this node has made.
     *
     * @param key the key of the token
     * @param quietly whether this is no use of the token
     * @return the login; null if there is none that another node can accept
     */
    public @Nullable Lent lent(String key, boolean quietly) {
        Login login = tokens.own(key, quietly);
        // the first password is one of this node
        return login == null || login.passwordHash().equals(NO_HASH)
                ? null
                : new Lent(login.user(), login.passwordHash());
    }

    /**
     * Makes a login of another node known here for ten seconds.
     *
     * @param key the key of the token
     * @param login the login
     * @param quietly whether the other node was asked without a use of the token
     */
    public void lend(String key, Lent login, boolean quietly) {
        tokens.lend(key, new Login(login.user(), login.passwordHash()), quietly);
    }

    /**
     * Ends a login.
     *
     * @param key the key of its token
     */
    public void endLogin(String key) {
        tokens.end(key);
    }

    /**
     * Finds the caller of a login token.
     *
     * @param token the token
     * @return the user with the present role; null if there is no such login, or the user or the password is gone
     */
    public @Nullable Caller byToken(String token) {
        return caller(tokens.find(token));
    }

    /**
     * Finds the caller of a login token, without using it: the login ends an hour after its last use.
     *
     * @param token the token
     * @return what {@link #byToken} returns
     */
    @Nullable
    Caller byTokenQuietly(String token) {
        return caller(tokens.findQuietly(token));
    }

    private @Nullable Caller caller(@Nullable Login login) {
        if (login == null) {
            return null;
        }
        LiveObject<User> user = users.get(login.user());
        if (user == null) {
            boolean first = login.passwordHash().equals(NO_HASH) && firstPassword() != null;
            return first ? new Caller(login.user(), Role.ADMINISTRATOR, Caller.Kind.USER) : null;
        }
        return user.value().passwordHash().equals(login.passwordHash())
                ? new Caller(login.user(), user.value().role(), Caller.Kind.USER)
                : null;
    }

    /**
     * Finds the caller of an API key.
     *
     * @param key the public half
     * @param secret the secret half
     * @return the key with its role; null if there is none, or it is wrong, disabled or expired
     */
    public @Nullable Caller byKey(String key, String secret) {
        String name = namesByKey.get(key);
        LiveObject<ApiKey> found = name == null ? null : keys.get(name);
        String hash = Secrets.sha256(secret);
        boolean valid = found != null
                && Secrets.areEqual(hash, found.value().secretHash())
                && found.value().enabled()
                && !found.value().isExpired(clock.instant());
        return valid && found != null ? new Caller(found.id(), found.value().role(), Caller.Kind.API_KEY) : null;
    }

    /**
     * Creates a user. Nothing happens before subscription.
     *
     * @param name the name
     * @param password the password
     * @param role the role
     * @param description a text for people
     * @param origin who makes the change
     * @return the user; fails with {@link ObjectRefusedException}, and with {@link io.smqtt.admin.InvalidFieldException} if name or
     *     password cannot be used
     */
    public Mono<LiveObject<User>> createUser(
            String name, String password, Role role, String description, String origin) {
        return Mono.defer(() -> {
            Formats.checkName(name);
            return hash(password)
                    .flatMap(hash -> users.put(name, new User(hash, role, description), Expected.NOTHING, origin));
        });
    }

    private Mono<String> hash(String password) {
        return passwords
                .hash(password)
                .onErrorMap(
                        Passwords.BusyException.class,
                        busy -> refused(
                                503, "SERVICE_UNAVAILABLE", "too many logins at a time", Duration.ofSeconds(1)));
    }

    /**
     * Changes the password of a user, which ends the user's logins. The first user is created by that.
     *
     * @param name the name
     * @param before the old password
     * @param after the new password
     * @param caller who makes the change, for whom wrong old passwords are counted
     * @return completes when the change is in force; fails as {@link #login} and {@link #createUser} do
     */
    public Mono<Void> changePassword(String name, String before, String after, Caller caller) {
        return verify(name, before, WrongLogins.Place.of(name, caller))
                .flatMap(old -> hash(after).flatMap(hash -> replaceHash(name, old, hash)))
                .then();
    }

    /** Replaces a verified password, unless the user was deleted or has another password in the meantime. */
    private Mono<LiveObject<User>> replaceHash(String name, String old, String hash) {
        String origin = "user " + name;
        if (old.equals(NO_HASH)) { // the first password
            return firstPassword() == null
                    ? Mono.error(changed())
                    : users.put(name, new User(hash, Role.ADMINISTRATOR, ""), Expected.NOTHING, origin);
        }
        LiveObject<User> user = users.get(name);
        if (user == null || !user.value().passwordHash().equals(old)) {
            return Mono.error(changed());
        }
        User value = user.value();
        return users.put(
                name, new User(hash, value.role(), value.description()), Expected.version(user.version()), origin);
    }

    private static ObjectRefusedException changed() {
        return new ObjectRefusedException(
                ObjectRefusedException.Reason.CHANGED, "the user has been changed in the meantime");
    }

    /**
     * Hashes a new password of a user.
     *
     * @param password the password
     * @return the hash; fails as {@link #createUser} does
     */
    public Mono<String> hashed(String password) {
        return Mono.defer(() -> hash(password));
    }

    /**
     * A new API key with its secret, which is shown once.
     *
     * @param object the key
     * @param secret the secret
     */
    public record NewKey(LiveObject<ApiKey> object, String secret) {

        /** {@return the form without the secret} */
        @Override
        public String toString() {
            return "NewKey[" + object + "]";
        }
    }

    /**
     * Creates an API key. Nothing happens before subscription.
     *
     * @param name the name
     * @param role the role
     * @param enabled whether it is accepted
     * @param expiresAt when it is no longer accepted; null for never
     * @param description a text for people
     * @param origin who makes the change
     * @return the key with its secret; fails as {@link #createUser} does
     */
    public Mono<NewKey> createKey(
            String name, Role role, boolean enabled, @Nullable Instant expiresAt, String description, String origin) {
        return Mono.defer(() -> {
            Formats.checkName(name);
            String secret = Secrets.random(SECRET_BYTES);
            ApiKey key = new ApiKey(
                    Secrets.random(KEY_BYTES),
                    Secrets.sha256(secret),
                    role,
                    enabled,
                    expiresAt,
                    clock.instant(),
                    description);
            return keys.put(name, key, Expected.NOTHING, origin).map(object -> new NewKey(object, secret));
        });
    }

    /** Ends the threads that hash. */
    public void close() {
        passwords.close();
    }
}

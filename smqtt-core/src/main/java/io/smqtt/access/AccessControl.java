// SPDX-License-Identifier: Apache-2.0
package io.smqtt.access;

import io.smqtt.config.AccessConfig;
import io.smqtt.config.ConfigurationException;
import io.smqtt.spi.AccessChain;
import io.smqtt.spi.Authenticator;
import io.smqtt.spi.Authorizer;
import io.smqtt.spi.BrokerObserver;
import io.smqtt.spi.EnhancedAuthenticator;
import io.smqtt.thread.AnyThread;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The access checks of one broker: authenticators and authorizers of the application, which are asked first, and those of the
 * configuration. The combined authenticator and authorizer are the same objects for the life of the broker; a reload changes their
 * answers.
 */
public final class AccessControl implements AutoCloseable {

    private final OpenAuthorizer open = new OpenAuthorizer();
    private final AccessConfig config;
    private final @Nullable PasswordFileAuthenticator passwords;
    private final @Nullable AclFileAuthorizer rules;
    private final Authenticator authenticator;
    private final Authorizer authorizer;
    private final List<EnhancedAuthenticator> enhancedAuthenticators;
    private final List<String> warnings = new ArrayList<>();

    // of the files in force; guarded by this
    private TextFile.Shape userShape = TextFile.Shape.NEW;
    private TextFile.Shape ruleShape = TextFile.Shape.NEW;

    private AccessControl(
            AccessConfig config,
            List<Authenticator> authenticators,
            List<Authorizer> authorizers,
            @Nullable AccessChain chain,
            BrokerObserver observer) {
        this.config = config;
        PasswordFile users = config.passwordFile() == null ? null : PasswordFile.read(config.passwordFile());
        AclFile acl = config.aclFile() == null ? null : AclFile.read(config.aclFile());
        passwords = users == null ? null : new PasswordFileAuthenticator(users.table(), config, observer);
        rules = acl == null ? null : new AclFileAuthorizer(acl);
        userShape = users == null ? userShape : users.shape();
        ruleShape = acl == null ? ruleShape : acl.shape();
        authenticator = authenticators(authenticators, chain);
        authorizer = authorizers(authorizers);
        enhancedAuthenticators =
                passwords == null ? List.of() : List.of(new ScramSha256Authenticator(passwords::table));
        warnings.addAll(users == null ? List.of() : users.warnings());
        warnings.addAll(acl == null ? List.of() : acl.warnings());
    }

    /**
     * Reads the files and creates the checks. Blocks.
     *
     * @param config the files, and the rule for clients without a user name
     * @param authenticators authenticators of the application, asked in this order before the built-in ones
     * @param authorizers authorizers of the application, asked in this order before the ACL file
     * @param chain combines the built-in authenticators with backends; null without them
     * @param observer receives events about queued and delayed logins
     * @return the access checks
     * @throws ConfigurationException if a file is missing, unreadable or malformed; with file and line of every malformed line
     */
    public static AccessControl open(
            AccessConfig config,
            List<Authenticator> authenticators,
            List<Authorizer> authorizers,
            @Nullable AccessChain chain,
            BrokerObserver observer) {
        return new AccessControl(config, authenticators, authorizers, chain, observer);
    }

    /**
     * The same without backends. Blocks.
     *
     * @param config the files, and the rule for clients without a user name
     * @param authenticators authenticators of the application
     * @param authorizers authorizers of the application
     * @param observer receives events about queued and delayed logins
     * @return the access checks
     */
    public static AccessControl open(
            AccessConfig config,
            List<Authenticator> authenticators,
            List<Authorizer> authorizers,
            BrokerObserver observer) {
        return open(config, authenticators, authorizers, null, observer);
    }

    /**
     * Topics below $SYS other than $SYS/broker name clients: without access rules, reading them needs the role admin. Called before clients connect.
     */
    public void sysNamesClients() {
        open.sysNamesClients();
    }

    /**
     * Authenticates clients. Decides every request.
     *
     * @return the same object each time
     */
    @AnyThread
    public Authenticator authenticator() {
        return authenticator;
    }

    /**
     * Authorizes actions of clients. Decides every request. Returns one of the constants of {@link io.smqtt.spi.AccessDecision#now()} unless
     * an authorizer of the application answers later.
     *
     * @return the same object each time
     */
    @AnyThread
    public Authorizer authorizer() {
        return authorizer;
    }

    /**
     * The built-in methods of enhanced authentication.
     *
     * @return SCRAM-SHA-256 if there is a password file, else none
     */
    public List<EnhancedAuthenticator> enhancedAuthenticators() {
        return enhancedAuthenticators;
    }

    /**
     * Warnings about the files, as of the start.
     *
     * @return messages that name the files; usually empty
     */
    public List<String> warnings() {
        return List.copyOf(warnings);
    }

    /**
     * Reads the files again. The content of a valid file takes effect as a whole. A file that cannot be used, or that seems to be truncated,
     * leaves the former content in force. Blocks: not on an event loop.
     *
     * @return the result
     */
    public synchronized AccessReload reload() {
        List<Path> reloaded = new ArrayList<>();
        List<String> problems = new ArrayList<>();
        List<String> notes = new ArrayList<>();
        Set<String> removed = new HashSet<>();
        Path passwordFile = config.passwordFile();
        PasswordFileAuthenticator users = passwords;
        if (passwordFile != null && users != null) {
            reload(passwordFile, reloaded, problems, () -> {
                PasswordFile fresh = PasswordFile.read(passwordFile);
                userShape = whole(passwordFile, userShape, fresh.shape());
                removed.addAll(users.table().missingIn(fresh.table()));
                users.replace(fresh.table());
                notes.addAll(fresh.warnings());
            });
        }
        Path aclFile = config.aclFile();
        AclFileAuthorizer acl = rules;
        if (aclFile != null && acl != null) {
            reload(aclFile, reloaded, problems, () -> {
                AclFile fresh = AclFile.read(aclFile);
                ruleShape = whole(aclFile, ruleShape, fresh.shape());
                acl.replace(fresh);
                notes.addAll(fresh.warnings());
            });
        }
        return new AccessReload(reloaded, problems, notes, removed);
    }

    /** Stops the threads that compute password hashes; waiting logins are refused. */
    @Override
    public void close() {
        if (passwords != null) {
            passwords.close();
        }
    }

    /** Rejects a file that seems to be truncated since it was last read; returns its shape otherwise. */
    private static TextFile.Shape whole(Path file, TextFile.Shape before, TextFile.Shape now) {
        String lost = before.lostBy(now);
        if (lost != null) {
            throw new ConfigurationException(file + ": " + lost);
        }
        return now;
    }

    private static void reload(Path file, List<Path> reloaded, List<String> problems, Runnable step) {
        try {
            step.run();
            reloaded.add(file);
        } catch (ConfigurationException e) {
            problems.addAll(e.problems());
        }
    }

    private Authenticator authenticators(List<Authenticator> pluggedIn, @Nullable AccessChain chain) {
        List<Authenticator> members = new ArrayList<>(pluggedIn);
        if (chain != null) {
            Map<String, Authenticator> builtIn = new HashMap<>();
            builtIn.put(AccessConfig.CERTIFICATE, new CertificateAuthenticator());
            builtIn.put(AccessChain.ANONYMOUS, new AnonymousAuthenticator(config.allowAnonymous(), false));
            if (passwords != null) {
                builtIn.put(AccessConfig.PASSWORD_FILE, passwords);
            }
            members.add(chain.combine(builtIn));
            return new AuthenticatorChain(members);
        }
        members.add(new CertificateAuthenticator());
        if (passwords != null) {
            members.add(passwords);
        }
        boolean verifiesNobody = pluggedIn.isEmpty() && passwords == null;
        members.add(new AnonymousAuthenticator(config.allowAnonymous(), verifiesNobody));
        return new AuthenticatorChain(members);
    }

    private Authorizer authorizers(List<Authorizer> pluggedIn) {
        List<Authorizer> members = new ArrayList<>(pluggedIn);
        if (rules != null) {
            members.add(rules);
        }
        members.add(members.isEmpty() ? open : new AdminAuthorizer());
        return new AuthorizerChain(members);
    }
}

// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.Callable;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** A {@code ctl} command: whom it asks as whom, how it prints the answer, and with which exit code it ends. */
abstract class CtlRequest implements Callable<Integer> {

    private final ProgramContext program;
    private final SecretInput input;
    private LoginOptions.@Nullable Login login;

    @Spec
    @Nullable
    CommandSpec spec;

    @Mixin
    ConfigOptions options = new ConfigOptions();

    @Mixin
    ManagementOptions management = new ManagementOptions();

    @Mixin
    LoginOptions who = new LoginOptions();

    @Option(names = "--json", description = "Prints JSON: one document, or one line for each entry of a list.")
    boolean json;

    CtlRequest(ProgramContext program) {
        this.program = program;
        input = new SecretInput(program);
    }

    /**
     * Asks and prints.
     *
     * @throws RefusedException if the broker refuses
     * @throws IOException if there is no answer
     */
    abstract void run(BrokerApi api, CtlOutput out) throws IOException;

    final ProgramContext program() {
        return program;
    }

    final SecretInput input() {
        return input;
    }

    /** {@return the password of {@code --user}} */
    final String ownPassword() {
        return Objects.requireNonNull(login).password();
    }

    final ParameterException usage(String message) {
        return new ParameterException(Objects.requireNonNull(spec).commandLine(), message);
    }

    @Override
    public final Integer call() {
        ManagementClient client = management.client(options, program, who.secret());
        CtlOutput out = new CtlOutput(program, json, json ? 0 : Terminal.columns(program));
        try {
            ask(client, out);
            return out.isComplete() ? ExitCode.OK : ExitCode.UNEXPECTED;
        } catch (RefusedException e) {
            boolean unknown = e.status() == 401 && client.isAnonymous() && who.secret() == null;
            problem(client.base() + " says: " + e.text()
                    + (unknown ? "; --token-file, --user or --api-key say who asks" : ""));
            return ExitCode.UNEXPECTED;
        } catch (TokenFileException e) {
            problem(String.valueOf(e.getMessage()));
            return ExitCode.NO_ANSWER;
        } catch (SSLException e) {
            problem("no answer from " + client.base() + ": " + e.getMessage()
                    + "; --ca names the authority of its certificate");
            return ExitCode.NO_ANSWER;
        } catch (IOException e) {
            problem("no answer from " + client.base() + ": " + e.getMessage()
                    + "; does the broker run, and is that its management port?");
            return ExitCode.NO_ANSWER;
        } catch (SecretInput.DifferentException e) {
            throw usage(String.valueOf(e.getMessage()));
        } finally {
            program.out().flush();
        }
    }

    private void ask(ManagementClient client, CtlOutput out) throws IOException {
        LoginOptions.Login known = who.login(client, input);
        login = known;
        if (known.mustChange()) {
            problem("this is the password of the first start; change it: smqtt ctl users password " + who.user
                    + " --user " + who.user);
        }
        BrokerApi api = new BrokerApi(known.client());
        try {
            run(api, out);
        } finally {
            if (who.user != null) {
                logout(api);
            }
        }
    }

    private static void logout(BrokerApi api) throws IOException {
        try {
            api.send("POST", "/logout", null);
        } catch (RefusedException e) {
            if (e.status() != 401) { // a new password has ended the login already
                throw e;
            }
        }
    }

    private void problem(String text) {
        program.err().println("smqtt: " + text);
    }
}

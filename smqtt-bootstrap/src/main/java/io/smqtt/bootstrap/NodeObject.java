// SPDX-License-Identifier: Apache-2.0
package io.smqtt.bootstrap;

import io.smqtt.message.LogText;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Commands about one object that has a state on each node, such as a bridge or a source. */
final class NodeObject {

    private NodeObject() {}

    /** A command about one object. */
    abstract static class One extends CtlRequest {

        final String objects;

        @Parameters(index = "0", paramLabel = "NAME", description = "Is its name.")
        String name = "";

        /**
         * Creates a command.
         *
         * @param objects the path of all such objects in the API, such as {@code /bridges}
         */
        One(ProgramContext program, String objects) {
            super(program);
            this.objects = objects;
        }
    }

    /** Shows an object with its state on each node. */
    abstract static class Show extends One {

        Show(ProgramContext program, String objects) {
            super(program, objects);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            out.object(api.get(BrokerApi.path(objects + "/{id}", name)));
        }
    }

    /** Does something with an object on all nodes. */
    abstract static class Everywhere extends One {

        final String operation;
        final String done;

        /**
         * Creates a command.
         *
         * @param operation the last part of its path in the API
         * @param done its past participle
         */
        Everywhere(ProgramContext program, String objects, String operation, String done) {
            super(program, objects);
            this.operation = operation;
            this.done = done;
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            api.send("POST", BrokerApi.path(objects + "/{id}/" + operation, name), null);
            out.done(done + " " + LogText.escape(name));
        }
    }

    /** Starts, stops or restarts an object on all nodes, or on one. */
    abstract static class Change extends Everywhere {

        @Nullable
        @Option(names = "--node", paramLabel = "NODE", description = "Is the only node that does it.")
        String node;

        /**
         * Creates a command.
         *
         * @param operation the last part of its path in the API
         * @param done its past participle
         */
        Change(ProgramContext program, String objects, String operation, String done) {
            super(program, objects, operation, done);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            if (node == null) {
                super.run(api, out);
                return;
            }
            api.send("POST", BrokerApi.path("/nodes/{node}" + objects + "/{id}/" + operation, node, name), null);
            out.done(done + " " + LogText.escape(name) + " on " + LogText.escape(node));
        }
    }

    /** Deletes an object on all nodes. */
    abstract static class Delete extends One {

        Delete(ProgramContext program, String objects) {
            super(program, objects);
        }

        @Override
        void run(BrokerApi api, CtlOutput out) throws IOException {
            api.send("DELETE", BrokerApi.path(objects + "/{id}", name), null);
            out.done("deleted " + LogText.escape(name));
        }
    }
}

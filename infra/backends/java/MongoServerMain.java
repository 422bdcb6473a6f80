import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.QueryResult;
import de.bwaldvogel.mongo.backend.h2.H2Backend;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.wire.message.MongoMessage;
import de.bwaldvogel.mongo.wire.message.MongoQuery;
import io.netty.channel.Channel;
import java.util.List;

/**
 * Serves MongoDB's wire protocol on a port, on an H2 file: MongoServerMain PORT FILE.
 *
 * The library answers before the file has the write, and its updates read and write back without a lock. Here one
 * command runs at a time and is in the file before it is answered, so that a guarded update is atomic and an
 * acknowledged write outlives SIGKILL, as with the real server.
 */
public class MongoServerMain {
    static final class DurableBackend extends H2Backend {
        DurableBackend(String file) {
            super(file);
        }

        @Override
        public synchronized Document handleCommand(Channel channel, String database, String command, Document query) {
            try {
                return super.handleCommand(channel, database, command, query);
            } finally {
                commitIfChanged();
            }
        }

        @Override
        public synchronized QueryResult handleQuery(MongoQuery query) {
            return super.handleQuery(query);
        }

        @Override
        public synchronized Document handleMessage(MongoMessage message) {
            try {
                return super.handleMessage(message);
            } finally {
                commitIfChanged();
            }
        }

        private void commitIfChanged() {
            if (getMvStore().hasUnsavedChanges()) {
                commit();
            }
        }
    }

    /** The library calls itself older (wire version 8) than today's clients accept. 4.4 is the least that they do. */
    static final class Version implements MongoVersion {
        @Override
        public List<Integer> getVersionArray() {
            return List.of(4, 4, 0, 0);
        }

        @Override
        public int getWireVersion() {
            return 9;
        }
    }

    public static void main(String[] args) {
        DurableBackend backend = new DurableBackend(args[1]);
        backend.version(new Version());
        MongoServer server = new MongoServer(backend);
        server.bind("127.0.0.1", Integer.parseInt(args[0]));
        Runtime.getRuntime().addShutdownHook(new Thread(server::shutdownNow));
        System.out.println("ready on " + server.getConnectionString());
    }
}
